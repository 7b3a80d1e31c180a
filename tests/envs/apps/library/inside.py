"""Datasette over the catalogue of a library; it runs in the Python of the application."""

import os
import sqlite3
from functools import cache

from a2wsgi import ASGIMiddleware
from datasette.app import Datasette

SECRET = "of worlds that everybody may know"
LEND = "INSERT INTO loan (book_id, reader) VALUES (:book, :reader)"
QUERY = {
    "title": "Lend a book",
    "sql": LEND,
    "write": True,
    "allow": {"id": "librarian"},
    "on_success_message": "Lent.",
}
TABLES = {"book": {"sort": "title", "label_column": "title", "facets": ["author"]}}


def install():
    os.makedirs("static")
    with sqlite3.connect("db.sqlite3") as database:
        database.executescript(
            """
            CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT, author TEXT, pages INTEGER);
            CREATE TABLE loan (id INTEGER PRIMARY KEY, book_id INTEGER REFERENCES book (id), reader TEXT);
            CREATE VIRTUAL TABLE book_fts USING fts4 (title, content="book");
            """
        )


def seed(world):
    with sqlite3.connect("db.sqlite3") as database:
        database.executemany("INSERT INTO book VALUES (:id, :title, :author, :pages)", world["books"])
        database.execute("INSERT INTO book_fts (book_fts) VALUES ('rebuild')")
    cookie = Datasette(secret=SECRET).sign({"a": {"id": "librarian"}}, "actor")
    return {"librarian": [{"name": "ds_actor", "value": cookie}]}


def application():
    @cache  # made by the first request, in the process of the visit: the database and the threads are its own
    def library():
        metadata = {"databases": {"db": {"queries": {"lend": QUERY}, "tables": TABLES}}}
        return ASGIMiddleware(Datasette(["db.sqlite3"], secret=SECRET, metadata=metadata).app())

    return lambda environ, start_response: library()(environ, start_response)
