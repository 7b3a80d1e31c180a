"""Pages that break browser environments, and the server that serves them on two origins.

Rows are 50 px high in a viewport of 500 x 500: row k is at y = 100 k + 50 in 0..1000.
"""

from __future__ import annotations

import base64
import time

from tests.browser.conftest import Handler, rows

PIXEL = base64.b64decode(b"R0lGODlhAQABAIAAAP8AAP8AACwAAAAAAQABAAACAkQBADs=")
PDF = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj "
    b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF"
)
OUT = "<p id=out></p>"

PAGES = {
    "/inputs": rows(
        "<input type=time aria-label=At>",
        "<input type=color aria-label=Paint value='#000000'>",
        "<input type=range aria-label=Volume min=0 max=100 value=50 style='width:400px'>",
        "<input type=file aria-label=Photo>",
        "<input type=month aria-label=Month>",
        "<input type=number aria-label=Count value=1>",
    ),
    "/dialogs": rows(
        "<button onclick='out.textContent = confirm(\"Delete it?\")'>Confirm</button>",
        '<button onclick=\'out.textContent = prompt("Your name?", "Ada")\'>Prompt</button>',
        "<button onclick='onbeforeunload = e => e.preventDefault()'>Guard</button>",
        "<a href=/two>Leave</a>",
        "<button onclick='print()'>Print</button>",
        "<button onclick='navigator.geolocation.getCurrentPosition("
        'p => out.textContent = "here", e => out.textContent = "denied")\'>Where</button>',
        "<button onclick='document.documentElement.requestFullscreen()'>Full</button>",
    )
    + OUT,
    "/restless": rows("<button onclick='setTimeout(() => { location = \"/two\" }, 1200)'>Go on soon</button>"),
    "/game": rows("<button onclick='requestPointerLock()'>Play</button>", "<p id=out></p>")
    + "<script>const said = []; onpointerlockchange = document.onpointerlockchange = () => {"
    "said.push(document.pointerLockElement ? 'locked' : 'free'); out.textContent = said.join(' ') }</script>",
    "/frames": "<!doctype html><title>frames</title><style>body{margin:0}iframe{display:block;border:0;width:500px;"
    "height:100px}</style><iframe src=/form></iframe><iframe src={other}/form></iframe>",
    "/framed": "<!doctype html><title>framed</title><style>body{margin:0}iframe{display:block;border:0;width:500px;"
    "height:350px}</style><iframe src=/inputs></iframe>",
    "/booking": "<!doctype html><title>booking</title><style>body{margin:0}iframe{display:block;border:0;width:500px;"
    "height:200px}</style><iframe src=/book></iframe>",
    "/book": rows("<form action=/booked><button>Book</button></form>"),
    "/shadow": "<!doctype html><title>shadow</title><body style='margin:0'><div id=host></div><p id=out></p><script>"
    "host.attachShadow({mode: 'open'}).innerHTML = '<style>button,input{display:block;height:50px;width:200px}"
    '</style><button>Deep</button><input aria-label="Deep field">\';'
    "host.shadowRoot.querySelector('button').onclick = () => out.textContent = 'deep click'</script>",
    "/editable": rows("<div contenteditable=true aria-label=Letter>Dear Ada</div>"),
    "/helpers": rows(
        "<div style='overflow:hidden;position:relative;width:3px;height:0'><textarea id=a style='position:absolute;"
        "width:500px'></textarea></div><div style='height:50px' onclick='a.focus()'>Editor</div>",
        "<textarea id=b style='opacity:0;position:absolute'></textarea><div style='height:50px' onclick='b.focus()'>"
        "Terminal</div>",
    )
    + "<p id=out></p><script>a.oninput = () => { out.textContent += a.value; a.value = '' };"
    "b.onkeydown = event => event.preventDefault()</script>",
    "/redrawn": "<!doctype html><title>redrawn</title><body style='margin:0'><div id=host></div><script>"
    "const draw = text => { host.innerHTML = `<div tabindex=0 aria-label=Card style='height:50px'>${text}</div>`;"
    "const card = host.firstChild; card.onkeydown = event => { draw(event.key); host.firstChild.focus() } };"
    "draw('new')</script>",
    "/canvas": "<!doctype html><body style='margin:0'><canvas id=c width=500 height=300 aria-label=Board></canvas>"
    + OUT
    + "<script>const g = c.getContext('2d'); g.fillStyle = 'blue'; g.fillRect(0, 0, 500, 300);"
    "c.onclick = e => { g.fillStyle = 'red'; g.fillRect(e.offsetX - 20, e.offsetY - 20, 40, 40); "
    "out.textContent = e.offsetX + ',' + e.offsetY }</script>",
    "/board": "<!doctype html><title>board</title><style>body{margin:0}div{position:absolute;width:100px;height:100px}"
    "</style><div id=card draggable=true style='left:0;top:0;background:gold'>Card</div>"
    "<div id=done style='left:300px;top:200px;background:#cec'>Done</div><script>"
    "card.ondragstart = e => e.dataTransfer.setData('text', 'card'); done.ondragover = e => e.preventDefault();"
    "done.ondrop = e => { e.preventDefault(); done.textContent = e.dataTransfer.getData('text') + ' dropped' }"
    "</script>",
    "/onload": rows("<button id=b>Wait</button>") + "<img src=/slow><script>onload = () => { b.textContent = 'Go' }"
    "</script>",
    "/paste": rows(
        "<input aria-label=From value='blue mug'>",
        "<input aria-label=To>",
        "<textarea aria-label=Taker onpaste='event.preventDefault();"
        'this.value = "took " + event.clipboardData.getData("text/plain")\'></textarea>',
    ),
    "/menus": "<!doctype html><title>menus</title><style>body{margin:0}.menu{height:50px;width:200px;background:#ccc}"
    ".menu ul{display:none;margin:0;padding:0;position:absolute;top:50px}.menu:hover ul{display:block}"
    "li{height:50px;list-style:none}#context{display:none;position:fixed}</style>"
    "<div class=menu>Products<ul><li><a href=/two>Mugs</a></li></ul></div>"
    "<div id=area style='margin-top:150px;height:100px;background:#eee'>Right-click here</div>"
    "<div id=context><button>Rename</button></div><p id=out></p><script>"
    "area.oncontextmenu = e => { e.preventDefault(); context.style.cssText = "
    "`display:block;left:${e.clientX}px;top:${e.clientY}px` };"
    "context.onclick = () => out.textContent = 'renamed'</script>",
    "/sticky": "<!doctype html><title>sticky</title><body style='margin:0'>"
    "<div style='position:sticky;top:0;height:50px;background:#ccc'><a href=/two>Home</a></div>"
    "<div style='height:3000px'>text</div>",
    "/nested": "<!doctype html><title>nested</title><body style='margin:0;height:3000px'>"
    "<div id=a style='height:400px;overflow:auto'><div style='height:1000px;padding-top:50px'>"
    "<div id=b style='height:200px;overflow:auto'><div style='height:900px'>inner</div></div></div></div>",
    "/endless": "<!doctype html><title>endless</title><body style='margin:0'><div id=list></div><script>"
    "let n = 0; const more = () => { for (let i = 0; i < 10; i++) list.insertAdjacentHTML('beforeend', "
    "`<div style='height:100px'>Item ${n++}</div>`) }; more();"
    "onscroll = () => { if (scrollY + innerHeight > document.body.scrollHeight - 50) setTimeout(more, 30) }</script>",
    "/suggest": rows("<input id=q aria-label=City>") + "<ul id=list style='margin:0;padding:0'></ul><script>"
    "const all = ['Oslo', 'Osaka', 'Paris']; q.onkeyup = () => setTimeout(() => list.innerHTML = all.filter("
    "c => c.toLowerCase().startsWith(q.value.toLowerCase())).map(c => `<li style='height:50px' role=option>${c}</li>`)"
    ".join(''), 40); list.onclick = e => { q.value = e.target.textContent; list.innerHTML = '' }</script>",
    "/toast": rows("<button onclick='t.style.display = \"block\"; setTimeout(() => t.remove(), 4000)'>Save</button>")
    + "<div id=t style='display:none;position:fixed;bottom:0'>Saved</div><script></script>",
    "/huge": "<!doctype html><title>huge</title><body style='margin:0'>"
    "<a href=/two style='display:block;height:50px'>Up</a><div id=list></div>"
    "<script>list.innerHTML = '<span>x</span>'.repeat(50000)</script>",
    "/tall": "<!doctype html><title>tall</title><body style='margin:0'>"
    "<div style='height:30000px;background:linear-gradient(red,blue)'></div><a href=/two>Bottom</a>",
    "/worker": "<!doctype html><title>worker</title><p id=out>none</p><script>"
    "const worker = navigator.serviceWorker; worker.register('/sw.js').then(() => worker.ready)"
    ".then(() => worker.controller || new Promise(done => worker.oncontrollerchange = done))"
    ".then(() => fetch('/made')).then(r => r.text()).then(t => out.textContent = t)</script>",
    "/idle": "<!doctype html><p id=out>plain</p><script>let left = 9; const go = () => "
    "left-- ? requestIdleCallback(go) : out.textContent = 'alive'; requestIdleCallback(go)</script>",
    "/modules": "<!doctype html><p id=own>plain</p><p id=others>plain</p><script>onload = () => { for (const src of "
    "['/module.js?own', '{other}/module.js?others']) document.head.append(Object.assign("
    "document.createElement('script'), {src})) }</script>",
    "/refresh": "<!doctype html><meta http-equiv=refresh content='0;url=/two'><p>moving",
    "/csp": "<!doctype html><title>csp</title><body style='margin:0'>"
    "<a href=/two style='display:block;height:50px'>Strict</a>",
}


class HardHandler(Handler):
    """Serves `PAGES`, those of the plain site, and answers that go wrong."""

    other = ""
    """The other origin."""

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path == "/loop":
            self.send_response(302)
            self.send_header("Location", "/loop")
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif path == "/auth":
            if self.headers.get("Authorization"):
                self.answer(200, "let in")
            else:
                self.answer(401, "log in first", {"WWW-Authenticate": 'Basic realm="club"'})
        elif path == "/pdf":
            self.send_response(200)
            self.send_header("Content-Type", "application/pdf")
            self.send_header("Content-Length", str(len(PDF)))
            self.end_headers()
            self.wfile.write(PDF)
        elif path == "/never":
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", "100000")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>never</title><a href=/two>Here</a>" + b" " * 2000)
            self.wfile.flush()
            time.sleep(20)
        elif path == "/sw.js":
            script = "self.addEventListener('fetch', e => { if (e.request.url.endsWith('/made')) "
            script += "e.respondWith(new Response('made by the worker')) });"
            script += "self.addEventListener('activate', e => e.waitUntil(clients.claim()))"
            self.answer(200, script, {"Content-Type": "text/javascript"})
        elif path == "/module.js":
            name = self.path.partition("?")[2]
            time.sleep(0.6 if name == "own" else 4)
            self.answer(200, f"{name}.textContent = 'alive'", {"Content-Type": "text/javascript"})
        elif path == "/booked":
            time.sleep(0.6)
            self.answer(200, "booked")
        elif path == "/late":
            time.sleep(2.5)
            self.answer(200, "late")
        elif path == "/csp":
            self.answer(200, PAGES[path], {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'"})
        elif path in PAGES:
            self.answer(200, PAGES[path].replace("{other}", self.other))
        else:
            super().do_GET()

    def answer(self, status: int, body: str, headers: dict[str, str] | None = None) -> None:
        headers = headers or {}
        kind = headers.pop("Content-Type", "text/html; charset=utf-8")
        data = body.encode()
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(data)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)
