"""A WSGI application of forty lines, with what the frame asks for; it needs the standard library alone."""

import html
import json
import os
import socket
import sqlite3
from urllib.parse import parse_qs


def install():
    os.makedirs("static")
    with open("static/style.css", "w") as file:
        file.write("body { font: 20px sans-serif }")
    with sqlite3.connect("db.sqlite3") as database:
        database.execute("CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT, owner TEXT)")
        database.execute("CREATE TABLE hit (id INTEGER PRIMARY KEY, path TEXT)")


def seed(world):
    with sqlite3.connect("db.sqlite3") as database:
        database.executemany("INSERT INTO note VALUES (:id, :text, 'seed')", world["notes"])
    return {"owner": [{"name": "who", "value": world["owner"]}]}


def application():
    def answer(environ, start_response):
        path, owner = environ["PATH_INFO"], environ.get("HTTP_COOKIE", "who=nobody").partition("=")[2]
        if path == "/crash":
            os._exit(3)
        if path == "/outside":
            try:
                socket.create_connection(("192.0.2.1", 80), timeout=1)
            except OSError as error:
                start_response("200 OK", [("Content-Type", "text/plain")])
                return [type(error).__name__.encode()]
        with sqlite3.connect("db.sqlite3") as database:
            database.execute("INSERT INTO hit (path) VALUES (?)", (path,))
            if environ["REQUEST_METHOD"] == "POST":
                body = environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"])).decode()
                text = parse_qs(body)["text"][0]
                database.execute("INSERT INTO note (text, owner) VALUES (?, ?)", (text, owner))
            rows = database.execute("SELECT id, text FROM note ORDER BY id").fetchall()
        if path == "/api":
            start_response("200 OK", [("Content-Type", "application/json")])
            return [json.dumps({"notes": [{"id": id, "text": text} for id, text in rows]}).encode()]
        items = "".join(f"<li>{id}: {html.escape(text)}</li>" for id, text in rows)
        form = '<form method="post" action="/"><input name="text"><button>Save</button></form>'
        write = start_response("200 OK", [("Content-Type", "text/html; charset=utf-8")])
        write(b"<!doctype html>")
        return [f"<link rel=stylesheet href=/static/style.css><h1>Notes of {owner}</h1>{form}<ul>{items}</ul>".encode()]

    return answer
