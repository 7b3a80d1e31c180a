"""Guard and isolation: ways to the canary, which must never be reached, and leaks from one session to the next.

The canary is a server at a private address that the environment was not told to allow. Whoever has no guard fails these
trials, and that is a finding, too. The sessions of a pool share a browser, or not; they must share nothing else.
"""

from . import (
    CALM,
    DIED,
    GREEN,
    LAMP,
    RED,
    SAYS_REFUSED,
    CanaryUntouched,
    Expect,
    FeedbackSaysAny,
    FeedbackSaysNone,
    File,
    PageState,
    PictureSize,
    PixelNear,
    Response,
    ServerNeverSaw,
    ServerSaw,
    Step,
    Tabs,
    Trial,
    UrlEnds,
    back,
    box,
    button,
    calm,
    click,
    goto,
    lit,
    noted,
    page,
    press,
    switch_tab,
    wait,
    write,
)

FAMILY = "guard_isolation"
LIGHT = button("go", 100, 100, "Switch the lamp", "light()") + LAMP
PRESS = click(200, 130)
HOME = goto("@ORIGIN@/calm")
AT_HOME: tuple[Expect, ...] = (UrlEnds("/calm"), *CALM)
JAVASCRIPT = (("Content-Type", "text/javascript"),)
TRY = "const attempt=f=>{try{const r=f();if(r&&r.catch)r.catch(()=>{})}catch(e){}};"
"""A failure of one attempt does not keep the others from being made."""


def jump(status: int = 302) -> Response:
    """A redirect to the canary."""
    return Response(status=status, headers=(("Location", "@CANARY@/jumped"),))


def opened(
    name: str,
    says: str,
    *urls: str,
    files: dict[str, File] | None = None,
    told: bool = True,
    more: tuple[Expect, ...] = (),
) -> Trial:
    """The agent opens addresses that it must not, and then one that it may."""
    return Trial(
        name=name,
        family=FAMILY,
        says=says,
        files={"/": calm(), "/calm": calm(), **(files or {})},
        steps=(*(goto(url) for url in urls), HOME),
        expects=(
            CanaryUntouched(),
            *((FeedbackSaysAny(SAYS_REFUSED, after=n) for n in range(len(urls))) if told else ()),
            FeedbackSaysNone(DIED, after=tuple(range(len(urls)))),
            *more,
            *AT_HOME,
        ),
    )


def tried(
    name: str,
    says: str,
    body: str = "",
    script: str = "",
    *,
    head: str = "",
    files: dict[str, File] | None = None,
    headers: tuple[tuple[str, str], ...] = (),
    secure: bool = False,
    seconds: float = 1,
) -> Trial:
    """The page itself tries, while the agent goes on using it."""
    return Trial(
        name=name,
        family=FAMILY,
        says=says,
        files={
            "/": Response(
                body=page(LIGHT + body, TRY + script, head=head),
                headers=(("Content-Type", "text/html; charset=utf-8"), *headers),
            ),
            **(files or {}),
        },
        steps=(wait(seconds), PRESS, wait(1)),
        expects=(CanaryUntouched(), FeedbackSaysNone(DIED, after=(0, 1, 2)), *lit()),
        needs_secure_context=secure,
    )


def left(
    name: str,
    says: str,
    body: str,
    script: str = "",
    *,
    files: dict[str, File] | None = None,
    steps: tuple[Step, ...] = (PRESS, wait(1)),
    told: bool = True,
    secure: bool = False,
) -> Trial:
    """A click would lead to the canary. Afterwards the agent opens a page that it may."""
    return Trial(
        name=name,
        family=FAMILY,
        says=says,
        files={"/": page(body, TRY + script), "/calm": calm(), **(files or {})},
        steps=(*steps, HOME),
        expects=(
            CanaryUntouched(),
            *((FeedbackSaysAny(SAYS_REFUSED, after=tuple(range(len(steps)))),) if told else ()),
            FeedbackSaysNone(DIED, after=tuple(range(len(steps)))),
            *AT_HOME,
        ),
        needs_secure_context=secure,
    )


def link(href: str, more: str = "", *, y: int = 100) -> str:
    """A link of 200 x 60 pixels."""
    return box(f"link{y}", 100, y, 200, 60, text="Go on", tag="a", more=f'href="{href}" {more}')


def leaks(
    name: str,
    says: str,
    plant: str,
    look: str,
    *,
    stays: bool = True,
    secure: bool = False,
    planted: bool = True,
    files: dict[str, File] | None = None,
    seconds: float = 1,
) -> Trial:
    """The first session plants something and notes `planted`; the second looks for it and notes `leak`, or none."""
    return Trial(
        name=name,
        family=FAMILY,
        says=says,
        files={"/": page("First", TRY + plant), "/second": page("Second", TRY + look), **(files or {})},
        steps=(wait(seconds),),
        second_session_steps=(wait(seconds),),
        second_session_start="/second",
        first_session_stays_open=stays,
        expects=(*((noted("planted", "1", after=0),) if planted else ()), noted("leak", "none", session=2)),
        needs_secure_context=secure,
    )


COPY_PAGE = page(
    "".join(
        f"<input id=f{n} value='{'SECRET-4711' if n == 0 else ''}' aria-label='Field {n}' "
        f"style='position:absolute;left:100px;top:{200 + 60 * n}px;width:300px;height:40px'>"
        for n in range(6)
    )
    + button(
        "old",
        500,
        100,
        "Copy the code",
        "const f=document.getElementById('f0');f.select();note('copied',document.execCommand('copy'))",
    )
    + button("new", 500, 200, "Copy code", "navigator.clipboard.writeText('SECRET-4711').then(()=>note('copied',1))")
)
"""Six fields 60 pixels apart, the first with a text, and two copy buttons."""
PASTE_PAGE = page(
    "".join(
        f"<input id=f{n} aria-label='Field {n}' "
        f"style='position:absolute;left:100px;top:{200 + 60 * n}px;width:300px;height:40px'>"
        for n in range(6)
    )
    + button(
        "old", 500, 100, "Paste", "document.getElementById('f4').focus();try{document.execCommand('paste')}catch(e){}"
    )
    + button(
        "new",
        500,
        200,
        "Read",
        "try{navigator.clipboard.readText().then(t=>note('read',t),()=>{})}catch(e){};"
        "try{navigator.clipboard.read().then(async l=>note('all',await(await l[0].getType('text/plain')).text()),"
        "()=>{})}catch(e){}",
    ),
    "addEventListener('paste',e=>{const d=e.clipboardData;"
    "note('pasted',d.getData('text/plain')+d.getData('text/html'))})",
)
COPY_OLD = click(600, 130)
COPY_NEW = click(600, 230)


def at(n: int) -> Step:
    """Click into a field of the copy or the paste page."""
    return click(250, 220 + 60 * n)


PASTES: tuple[Step, ...] = (
    at(0),
    press("ctrl+v"),
    at(1),
    press("shift+Insert"),
    at(2),
    press("ctrl+shift+v"),
    at(3),
    click(600, 130),
    click(600, 230),
    wait(1),
)


def clipboard(name: str, says: str, *steps: Step, stays: bool = True, secure: bool = False) -> Trial:
    """The first session copies a secret; the second tries every way of pasting."""
    return Trial(
        name=name,
        family=FAMILY,
        says=says,
        files={"/": COPY_PAGE, "/second": PASTE_PAGE},
        steps=(*steps, wait(0.5)),
        second_session_steps=PASTES,
        second_session_start="/second",
        first_session_stays_open=stays,
        expects=(
            PageState("[...document.querySelectorAll('input')].some(f=>f.value.includes('4711'))", False, session=2),
            PageState("JSON.stringify({...document.documentElement.dataset}).includes('4711')", False, session=2),
            FeedbackSaysNone(("4711",), after=tuple(range(len(PASTES))), session=2),
        ),
        needs_secure_context=secure,
    )


def pasted(name: str, says: str, *steps: Step, value: str = "SECRET-4711", secure: bool = False) -> Trial:
    """Within one session, a copied text is pasted into the second field."""
    return Trial(
        name=name,
        family=FAMILY,
        says=says,
        files={"/": COPY_PAGE},
        steps=(*steps, wait(0.5)),
        expects=(PageState("document.getElementById('f1').value", value),),
        needs_secure_context=secure,
    )


CALM_TWO: tuple[Expect, ...] = (PixelNear(500, 400, GREEN, session=2), PixelNear(800, 700, GREEN, session=2))
"""The picture of a calm page in the second session."""

ADDRESSES: tuple[Trial, ...] = (
    opened(
        "goto_the_canary",
        "The agent opens the canary's address, with and without path, query and upper case.",
        "@CANARY@/",
        "HTTP://@CANARY_HOST@:@CANARY_PORT@/secret?x=1#y",
        "@CANARY@",
        "  @CANARY@/spaces  ",
    ),
    opened(
        "goto_the_canary_by_numbers",
        "The canary's address is one decimal, hexadecimal or octal number, or of both kinds.",
        "http://@CANARY_DECIMAL@:@CANARY_PORT@/",
        "http://@CANARY_HEX@:@CANARY_PORT@/",
        "http://@CANARY_OCTAL@:@CANARY_PORT@/",
        "http://@CANARY_MIXED@:@CANARY_PORT@/",
        "http://@CANARY_SHORT@:@CANARY_PORT@/",
    ),
    opened(
        "goto_the_canary_by_ipv6",
        "The canary's address is mapped into IPv6 in two ways, and the machine itself is meant by [::1].",
        "http://@CANARY_MAPPED@:@CANARY_PORT@/",
        "http://@CANARY_MAPPED_HEX@:@CANARY_PORT@/",
        "http://[::1]:@CANARY_PORT@/",
        "http://[::@CANARY_HOST@]:@CANARY_PORT@/",
    ),
    opened(
        "goto_the_canary_by_other_characters",
        "The canary's address has a final dot, full-width digits, percent signs, a soft hyphen, tabs and line feeds.",
        "http://@CANARY_HOST@.:@CANARY_PORT@/",
        "http://@CANARY_WIDE@:@CANARY_PORT@/",
        "http://@CANARY_PERCENT@:@CANARY_PORT@/",
        "http://\u00ad@CANARY_HOST@:@CANARY_PORT@/",
        "ht\ntp:\t//@CANARY_HOST@\r\n:@CANARY_PORT@/",
    ),
    opened(
        "goto_the_canary_behind_a_name",
        "The allowed address is only the user name, and backslashes and missing slashes hide where the host begins.",
        "@ORIGIN@@@CANARY_HOST@:@CANARY_PORT@/",
        "@CANARY@\\@localhost/",
        "http:\\\\@CANARY_HOST@:@CANARY_PORT@/",
        "http:@CANARY_HOST@:@CANARY_PORT@/",
        "//@CANARY_HOST@:@CANARY_PORT@/",
    ),
    opened(
        "goto_by_other_schemes",
        "The canary is asked for by https, ws and ftp, as a source, and from memory.",
        "https://@CANARY_HOST@:@CANARY_PORT@/",
        "ws://@CANARY_HOST@:@CANARY_PORT@/",
        "ftp://@CANARY_HOST@:@CANARY_PORT@/",
        "view-source:@CANARY@/",
        "blob:@CANARY@/00000000-0000-0000-0000-000000000000",
    ),
    opened(
        "goto_files_of_the_machine",
        "The agent opens files of the machine that the browser runs on.",
        "file:///etc/passwd",
        "FILE://localhost/etc/passwd",
        "view-source:file:///etc/passwd",
        "file:/etc/",
        more=tuple(
            PageState("/root:x:0|Index of \\/etc/.test(document.documentElement.textContent)", False, after=n)
            for n in range(4)
        ),
    ),
    opened(
        "goto_pages_of_the_browser",
        "The agent opens pages of the browser itself, some of which would make it crash or hang.",
        "chrome://version/",
        "chrome://crash/",
        "chrome://hang/",
        "devtools://devtools/bundled/inspector.html",
        more=tuple(
            PageState("/^(chrome|devtools):$/.test(document.location.protocol)", False, after=n) for n in range(4)
        ),
    ),
    opened(
        "goto_data_and_script",
        "A data: page loads the canary's image, and a javascript: address fetches and opens the canary.",
        "data:text/html,<img src='@CANARY@/a.png'><iframe src='@CANARY@/b'></iframe><script>fetch('@CANARY@')</script>",
        "javascript:fetch('@CANARY@/j')",
        "javascript:location.href='@CANARY@/j'",
        "about:srcdoc",
        # Who refuses them does well, and so does who opens them without letting anything through.
        told=False,
    ),
    opened(
        "goto_a_redirect",
        "Allowed addresses redirect to the canary by 301, 302, 303, 307 and 308.",
        *(f"@ORIGIN@/jump{status}" for status in (301, 302, 303, 307, 308)),
        files={f"/jump{status}": jump(status) for status in (301, 302, 303, 307, 308)},
        more=tuple(ServerSaw(f"/jump{status}") for status in (301, 302, 303, 307, 308)),
    ),
    opened(
        "goto_a_chain_of_redirects",
        "Redirects go from the one allowed server to the other and back, and then to the canary without its scheme.",
        "@ORIGIN@/one",
        files={
            "/one": Response(status=302, headers=(("Location", "@OTHER@/two"),)),
            "/two": Response(status=307, headers=(("Location", "@ORIGIN@/three"),)),
            "/three": Response(status=302, headers=(("Location", "//@CANARY_HOST@:@CANARY_PORT@/four"),)),
        },
        more=(ServerSaw("/three"),),
    ),
    opened(
        "goto_a_refreshing_page",
        "Allowed pages send the visitor on by a meta element, by a header, and by a script while loading.",
        "@ORIGIN@/meta",
        "@ORIGIN@/header",
        "@ORIGIN@/script",
        files={
            "/meta": page("meta", head="<meta http-equiv=refresh content='0;url=@CANARY@/meta'>"),
            "/header": Response(
                body=page("header"), headers=(("Content-Type", "text/html"), ("Refresh", "0;url=@CANARY@/header"))
            ),
            "/script": page("script", "location.replace('@CANARY@/script')"),
        },
        # The first picture may come before the browser goes on, so what is said there is not judged.
        told=False,
    ),
)

LOADS: tuple[Trial, ...] = (
    tried(
        "page_loads_images_and_media",
        "The page has images, a video, an audio and a track of the canary, in every kind of element.",
        "<img src=@CANARY@/a.png><img srcset='@CANARY@/b.png 1x'><picture><source srcset=@CANARY@/c.png><img></picture>"
        "<input type=image src=@CANARY@/d.png><svg><image href=@CANARY@/e.png /><use href='@CANARY@/e.svg#a'/></svg>"
        "<video poster=@CANARY@/f.png src=@CANARY@/f.mp4 autoplay muted></video><audio src=@CANARY@/g.mp3 preload=auto>"
        "</audio><video crossorigin><source src=@CANARY@/h.webm><track default src=@CANARY@/h.vtt></video>",
        "new Image().src='@CANARY@/i.png';new Audio('@CANARY@/i.mp3').load()",
    ),
    tried(
        "page_loads_styles_and_fonts",
        "The canary gives the style sheets, imports, backgrounds, borders, cursors, masks, contents and fonts.",
        "<p id=styled>Styled</p><p id=imported>Imported</p>",
        "attempt(()=>new FontFace('Two','url(@CANARY@/two.woff2)').load())",
        head="<style>@import '@CANARY@/i.css';@import url(@CANARY@/j.css) screen;"
        "@font-face{font-family:One;src:url(@CANARY@/one.woff2)}"
        "#styled{font-family:One;background:url(@CANARY@/a.png);border-image:url(@CANARY@/b.png) 1;"
        "list-style:url(@CANARY@/c.png);display:list-item;cursor:url(@CANARY@/d.cur),auto;"
        "mask-image:url(@CANARY@/e.svg#m);filter:url('@CANARY@/f.svg#f');shape-outside:url(@CANARY@/g.png);float:left}"
        "#styled::before{content:url(@CANARY@/h.png)}"
        "#imported{background:image-set('@CANARY@/k.png' 1x)}</style>"
        "<link rel=stylesheet href=@CANARY@/s.css><link rel=stylesheet href=/inner.css>",
        files={
            "/inner.css": Response(
                body="@import '@CANARY@/deep.css';#imported{background:url(@CANARY@/deep.png)}",
                headers=(("Content-Type", "text/css"),),
            )
        },
    ),
    tried(
        "page_loads_scripts",
        "The canary gives scripts, modules, imports, an import map's target and worklets.",
        "<script src=@CANARY@/a.js></script><script async src=@CANARY@/b.js></script>"
        "<script type=module src=@CANARY@/c.mjs></script><script type=module src=/d.mjs></script>",
        "attempt(()=>import('@CANARY@/e.mjs'));attempt(()=>import('far'));"
        "attempt(()=>CSS.paintWorklet.addModule('@CANARY@/p.js'));"
        "attempt(()=>new AudioContext().audioWorklet.addModule('@CANARY@/w.js'))",
        head='<script type=importmap>{"imports":{"far":"@CANARY@/far.mjs"}}</script>',
        files={"/d.mjs": Response(body="import '@CANARY@/deep.mjs'", headers=JAVASCRIPT)},
    ),
    tried(
        "page_holds_frames",
        "The canary stands in frames, objects and embeds, directly, by redirect, and within data: and srcdoc frames.",
        "<iframe src=@CANARY@/a></iframe><iframe src=/jump></iframe><object data=@CANARY@/b type=text/html></object>"
        "<embed src=@CANARY@/c type=text/html><iframe srcdoc='<img src=@CANARY@/d.png>'></iframe>"
        '<iframe src="data:text/html,<img src=@CANARY@/e.png><script>fetch(`@CANARY@/e`)</script>"></iframe>'
        "<iframe sandbox=allow-scripts src=/deep></iframe><iframe src=@OTHER@/deep></iframe>"
        "<iframe src=\"javascript:'<img src=@CANARY@/f.png>'\"></iframe><iframe src=/d.svg></iframe>"
        "<iframe name=late></iframe>",
        "setTimeout(()=>{frames.late.location='@CANARY@/late'},300)",
        files={
            "/jump": jump(),
            "/deep": page(
                "<img src=@CANARY@/g.png><iframe src=@CANARY@/g></iframe>",
                TRY + "attempt(()=>fetch('@CANARY@/h',{mode:'no-cors'}));"
                "attempt(()=>new WebSocket('ws://@CANARY_HOST@:@CANARY_PORT@/i'))",
            ),
            "/d.svg": Response(
                body='<svg xmlns="http://www.w3.org/2000/svg"><image href="@CANARY@/j.png" width="9"/></svg>',
                headers=(("Content-Type", "image/svg+xml"),),
            ),
        },
    ),
    tried(
        "page_gives_hints",
        "The page has hints to the browser: preload, prefetch, preconnect, icons, a manifest and speculation rules.",
        head="".join(
            f"<link rel=preload as={kind} href=@CANARY@/preload-{kind} crossorigin>"
            for kind in ("image", "script", "style", "font", "fetch")
        )
        + "".join(
            f"<link rel={rel} href=@CANARY@/{rel}>"
            for rel in ("prefetch", "prerender", "modulepreload", "icon", "apple-touch-icon", "manifest", "next")
        )
        + "<link rel=preconnect href=https://@CANARY_HOST@:@CANARY_PORT@><link rel=dns-prefetch href=@CANARY@>"
        "<link rel='shortcut icon' href=@CANARY@/favicon.ico><script type=speculationrules>"
        '{"prefetch":[{"source":"list","urls":["@CANARY@/spec"],"eagerness":"immediate"}],'
        '"prerender":[{"source":"list","urls":["/jump"],"eagerness":"immediate"}]}</script>',
        files={"/jump": jump()},
        headers=(
            ("Link", "<@CANARY@/h.png>; rel=preload; as=image, <@CANARY@/h.js>; rel=preload; as=script"),
            ("Link", "<https://@CANARY_HOST@:@CANARY_PORT@>; rel=preconnect"),
        ),
        seconds=2,
    ),
    tried(
        "page_sends_requests",
        "Scripts send requests of every kind, with other methods and headers, by themselves and by redirects.",
        script="attempt(()=>fetch('@CANARY@/a'));"
        "attempt(()=>fetch('@CANARY@/b',{method:'POST',mode:'no-cors',body:'b'}));"
        "attempt(()=>fetch('@CANARY@/c',{method:'PUT',headers:{'X-Trial':'1'}}));"
        "attempt(()=>fetch('@CANARY@/d',{keepalive:true,mode:'no-cors'}));attempt(()=>fetch('/jump'));"
        "attempt(()=>fetch('/jump307',{method:'POST',body:'e',mode:'no-cors'}));"
        "attempt(()=>navigator.sendBeacon('@CANARY@/f','f'));attempt(()=>navigator.sendBeacon('/jump307','g'));"
        "attempt(()=>{const x=new XMLHttpRequest();x.open('GET','@CANARY@/h');x.send()});"
        "attempt(()=>{const x=new XMLHttpRequest();x.open('GET','@CANARY@/i',false);x.send()});"
        "attempt(()=>new EventSource('@CANARY@/j'));attempt(()=>new EventSource('/jump'));"
        "attempt(()=>fetchLater('@CANARY@/k',{activateAfter:0}));new Image().src='/jump'",
        files={"/jump": jump(), "/jump307": jump(307)},
    ),
    tried(
        "page_opens_sockets",
        "Scripts open web sockets, a web transport and peer connections to the canary.",
        script="const at='@CANARY_HOST@:@CANARY_PORT@';attempt(()=>new WebSocket('ws://'+at+'/a'));"
        "attempt(()=>new WebSocket('wss://'+at+'/b'));attempt(()=>new WebSocketStream('ws://'+at+'/c'));"
        "attempt(()=>new WebTransport('https://'+at+'/d').ready);"
        "for(const urls of ['stun:'+at,'turn:'+at+'?transport=udp','turn:'+at+'?transport=tcp',"
        "'turns:'+at+'?transport=tcp'])"
        "attempt(async()=>{const c=new RTCPeerConnection({iceServers:[{urls,username:'u',credential:'c'}]});"
        "c.createDataChannel('x');await c.setLocalDescription(await c.createOffer())});"
        "attempt(async()=>{const c=new RTCPeerConnection();c.createDataChannel('x');"
        "const o=await c.createOffer();await c.setLocalDescription(o);"
        "const answer=o.sdp.replace(/a=setup:actpass/g,'a=setup:passive').replace(/a=candidate.*\\r\\n/g,'')"
        "+'a=candidate:1 1 udp 2122260223 @CANARY_HOST@ @CANARY_PORT@ typ host\\r\\n'"
        "+'a=candidate:2 1 tcp 1518280447 @CANARY_HOST@ @CANARY_PORT@ typ host tcptype passive\\r\\n';"
        "await c.setRemoteDescription({type:'answer',sdp:answer})})",
        seconds=3,
    ),
    tried(
        "page_starts_workers",
        "A worker, a worker of that worker and a shared worker try at once, as soon as they run.",
        script="window.w=new Worker('/w.js');attempt(()=>{window.s=new SharedWorker('/w.js')});"
        "attempt(()=>new Worker('/jump'));attempt(()=>new Worker(URL.createObjectURL(new Blob("
        "[\"fetch('@CANARY@/blob',{mode:'no-cors'});importScripts('@CANARY@/blob.js')\"],{type:'text/javascript'}))))",
        files={
            "/w.js": Response(
                body="if(self.name!=='inner')try{new Worker('/w.js',{name:'inner'})}catch(e){}\n"
                "fetch('@CANARY@/a',{mode:'no-cors'}).catch(()=>{});\n"
                "try{new WebSocket('ws://@CANARY_HOST@:@CANARY_PORT@/b')}catch(e){}\n"
                "try{new EventSource('@CANARY@/c')}catch(e){}\n"
                "try{const x=new XMLHttpRequest();x.open('GET','@CANARY@/d',false);x.send()}catch(e){}\n"
                "try{importScripts('@CANARY@/e.js')}catch(e){}\n",
                headers=JAVASCRIPT,
            ),
            "/jump": jump(),
        },
        seconds=2,
    ),
    tried(
        "page_has_reports_sent",
        "The content policy and other headers ask the browser to send its reports to the canary.",
        "<img src=/forbidden.png>",
        headers=(
            ("Content-Security-Policy", "img-src 'none'; report-uri @CANARY@/csp; report-to r"),
            ("Content-Security-Policy-Report-Only", "font-src 'none'; script-src 'none'; report-uri @CANARY@/only"),
            ("Reporting-Endpoints", 'r="@CANARY@/r", default="@CANARY@/default"'),
            ("Report-To", '{"group":"r","max_age":1000,"endpoints":[{"url":"@CANARY@/group"}]}'),
            ("NEL", '{"report_to":"r","max_age":1000,"success_fraction":1.0}'),
        ),
        seconds=2,
    ),
    tried(
        "page_spells_addresses_oddly",
        "The page's own requests use numbers, IPv6, full-width digits, user names and missing schemes.",
        "".join(
            f"<img src='http://@CANARY_{how}@:@CANARY_PORT@/{how}.png'>"
            for how in ("DECIMAL", "HEX", "OCTAL", "MIXED", "SHORT", "MAPPED", "MAPPED_HEX", "WIDE", "PERCENT")
        )
        + "<img src='//@CANARY_HOST@.:@CANARY_PORT@/a.png'><img src='@ORIGIN@@@CANARY_HOST@:@CANARY_PORT@/b.png'>"
        "<img src='\\\\@CANARY_HOST@:@CANARY_PORT@\\c.png'><img src='http://[::1]:@CANARY_PORT@/d.png'>",
        "attempt(()=>fetch('http://@CANARY_DECIMAL@:@CANARY_PORT@/e',{mode:'no-cors'}));"
        "attempt(()=>new WebSocket('ws://@CANARY_HEX@:@CANARY_PORT@/f'))",
    ),
    tried(
        "page_tries_again_and_again",
        "For two seconds the page tries every 20 ms, also from frames and workers that live for a moment only.",
        script="let n=0;const t=setInterval(()=>{if(++n>100)return clearInterval(t);"
        "fetch('@CANARY@/a'+n,{mode:'no-cors'}).catch(()=>{});new Image().src='@CANARY@/b'+n;"
        "if(n%5===0){const f=document.createElement('iframe');f.src=(n%2?'@OTHER@':'@ORIGIN@')+'/short?'+n;"
        "document.body.append(f);setTimeout(()=>f.remove(),150);"
        "const w=new Worker('/short.js?'+n);setTimeout(()=>w.terminate(),150)}},20)",
        files={
            "/short": page("<img src=@CANARY@/c.png>", "navigator.sendBeacon('@CANARY@/d')"),
            "/short.js": Response(body="fetch('@CANARY@/e',{mode:'no-cors'}).catch(()=>{})", headers=JAVASCRIPT),
        },
        seconds=4,
    ),
    Trial(
        name="service_worker_tries",
        family=FAMILY,
        says="A service worker tries when it is installed and whenever it is asked for a page.",
        files={
            "/": page(
                LIGHT, TRY + "attempt(()=>navigator.serviceWorker.register('/sw.js').then(()=>note('registered',1)))"
            ),
            "/sw.js": Response(
                body="const go=p=>fetch('@CANARY@/'+p,{mode:'no-cors'}).catch(()=>{});\n"
                "oninstall=e=>{skipWaiting();e.waitUntil(go('install'))};\n"
                "onactivate=e=>e.waitUntil(clients.claim());\n"
                "onfetch=e=>e.respondWith(Promise.race([go('fetch'),new Promise(r=>setTimeout(r,500))])"
                ".then(()=>fetch(e.request)));\n",
                headers=JAVASCRIPT,
            ),
            "/calm": calm(),
        },
        steps=(wait(2), PRESS, HOME),
        expects=(CanaryUntouched(), noted("lamp", "1", after=1), *AT_HOME),
        needs_secure_context=True,
    ),
)

WAYS_OUT: tuple[Trial, ...] = (
    left("link_to_the_canary", "A link leads to the canary.", link("@CANARY@/link")),
    left(
        "link_by_redirect",
        "A link leads to an allowed address that redirects to the canary.",
        link("/jump"),
        files={"/jump": jump()},
    ),
    left(
        "link_by_script",
        "A click sends the page to the canary by a script, after 100 ms.",
        button("go", 100, 100, "Go on", "setTimeout(()=>location.assign('@CANARY@/assign'),100)"),
    ),
    left(
        "form_posted_to_the_canary",
        "A form is posted to the canary.",
        "<form method=post action=@CANARY@/form><input type=hidden name=secret value=1>"
        + box("go", 100, 100, 200, 60, text="Send", tag="button")
        + "</form>",
    ),
    left(
        "form_posted_on_by_307",
        "A form is posted to an allowed address, which sends it on to the canary with all it holds.",
        "<form method=post action=/jump enctype=multipart/form-data><input type=hidden name=secret value=1>"
        + box("go", 100, 100, 200, 60, text="Send", tag="button")
        + "</form>",
        files={"/jump": jump(307)},
    ),
    left(
        "link_in_a_new_tab",
        "A link opens the canary in a new tab.",
        link("@CANARY@/tab", "target=_blank"),
        # What is said of a tab that the agent did not ask for differs.
        told=False,
    ),
    Trial(
        name="windows_opened_at_once",
        family=FAMILY,
        says="A click opens several windows that go to the canary or load from it before anybody can look at them.",
        files={
            "/": page(
                LIGHT
                + button(
                    "pop",
                    100,
                    300,
                    "Offers",
                    "window.open('@CANARY@/a');window.open('@CANARY@/b','_blank','noopener');window.open('/jump');"
                    "window.open('/pop');window.open('@OTHER@/pop');window.open('/pop','_blank','noopener');"
                    "const w=window.open('about:blank');try{w.document.write('<img src=@CANARY@/c.png>')}catch(e){};"
                    "const v=window.open('');setTimeout(()=>{try{v.location='@CANARY@/d'}catch(e){}},100)",
                )
            ),
            "/pop": page(
                "<img src=@CANARY@/e.png><iframe src=@CANARY@/f></iframe>",
                TRY + "attempt(()=>fetch('@CANARY@/g',{mode:'no-cors'}));"
                "attempt(()=>new WebSocket('ws://@CANARY_HOST@:@CANARY_PORT@/h'));"
                "new Worker(URL.createObjectURL(new Blob([\"fetch('@CANARY@/i',{mode:'no-cors'})\"])))",
                head="<link rel=preload as=script href=@CANARY@/j.js>",
            ),
            "/jump": jump(),
        },
        steps=(click(200, 330), wait(2), switch_tab(0), PRESS),
        expects=(CanaryUntouched(), Tabs(1, 9), FeedbackSaysNone(DIED, after=(0, 1, 2)), *lit()),
    ),
    Trial(
        name="ping_of_a_link",
        family=FAMILY,
        says="A link leads to an allowed page but tells the canary of the click (ping).",
        files={"/": page(link("/calm", "ping='@CANARY@/ping /jump'")), "/jump": jump(307), "/calm": calm()},
        steps=(PRESS, wait(2)),
        expects=(CanaryUntouched(), *AT_HOME),
    ),
    Trial(
        name="leaving_tells_the_canary",
        family=FAMILY,
        says="When the page is left, it sends beacons and requests that outlive it.",
        files={
            "/": page(
                link("/calm"),
                TRY + "for(const k of ['pagehide','visibilitychange','beforeunload','unload','freeze'])"
                "addEventListener(k,()=>{attempt(()=>navigator.sendBeacon('@CANARY@/beacon-'+k,'x'));"
                "attempt(()=>fetch('@CANARY@/keep-'+k,{keepalive:true,mode:'no-cors'}));"
                "attempt(()=>fetchLater('@CANARY@/later-'+k));"
                "attempt(()=>{const x=new XMLHttpRequest();x.open('POST','@CANARY@/'+k,false);x.send('x')})},true)",
            ),
            "/calm": calm(),
        },
        steps=(PRESS, wait(2)),
        expects=(CanaryUntouched(), *AT_HOME),
    ),
    Trial(
        name="downloads_of_the_canary",
        family=FAMILY,
        says="Clicks download from the canary, directly and by redirect.",
        files={
            "/": page(LIGHT + link("@CANARY@/a.zip", "download", y=300) + link("/jump", "download=b.zip", y=400)),
            "/jump": jump(),
        },
        # A cross-site `download` counts for nothing, so Chromium goes there as by any link. Hence the way back.
        steps=(click(200, 330), wait(1), goto("@ORIGIN@/"), click(200, 430), wait(1), goto("@ORIGIN@/"), PRESS),
        expects=(CanaryUntouched(), ServerSaw("/jump"), FeedbackSaysNone(DIED, after=(0, 1, 3, 4)), *lit()),
    ),
    Trial(
        name="tab_before_the_guard",
        family=FAMILY,
        says="A popup of the same page asks for the canary in every way in the first moment of its life, ten times.",
        files={
            "/": page(
                LIGHT
                + button(
                    "pop",
                    100,
                    300,
                    "Start",
                    "let n=0;const t=setInterval(()=>{const w=window.open('','_blank','popup,width=200,height=200');"
                    "if(w){try{w.fetch('@CANARY@/now'+n,{mode:'no-cors'}).catch(()=>{});"
                    "new w.Image().src='@CANARY@/i'+n;new w.WebSocket('ws://@CANARY_HOST@:@CANARY_PORT@/s'+n)}"
                    "catch(e){};setTimeout(()=>w.close(),100)}"
                    "if(++n>=10){clearInterval(t);note('over',1)}},150)",
                )
            )
        },
        steps=(click(200, 330), wait(3), switch_tab(0), PRESS),
        expects=(CanaryUntouched(), Tabs(1, 1), noted("over", "1"), *lit()),
    ),
    Trial(
        name="other_server_is_no_canary",
        family=FAMILY,
        says="What is allowed stays allowed: the other server's image, frame, fetch and page all come.",
        files={
            "/": page(
                LIGHT + "<img src=@OTHER@/i.png><iframe src=@OTHER@/frame></iframe>",
                TRY + "attempt(()=>fetch('@OTHER@/fetched',{mode:'no-cors'}));"
                "attempt(()=>new WebSocket('ws://@CANARY_HOST@:@CANARY_PORT@/no'))",
            ),
            "/frame": calm(),
            "/calm": calm(),
            "/fetched": Response(body="x", headers=(("Content-Type", "text/plain"),)),
        },
        steps=(wait(1), PRESS, goto("@OTHER@/calm")),
        expects=(
            CanaryUntouched(),
            noted("lamp", "1", after=1),
            *(ServerSaw(path, server="other") for path in ("/i.png", "/frame", "/fetched", "/calm")),
            ServerNeverSaw("/fetched"),
            *AT_HOME,
        ),
    ),
)

COOKIE = "document.cookie='leak=1; max-age=86400; path=/';note('planted',Number(document.cookie.includes('leak=1')))"
LOOK_COOKIE = "note('leak',document.cookie.includes('leak=1')?'cookie':'none')"
STORE = "localStorage.leak='1';sessionStorage.leak='1';note('planted',localStorage.leak)"
LOOK_STORE = "note('leak',localStorage.leak||sessionStorage.leak?'storage':'none')"
DATABASE = "indexedDB.open('leak',1).onsuccess=()=>note('planted',1)"
LOOK_DATABASE = "indexedDB.databases().then(l=>note('leak',l.some(d=>d.name==='leak')?'database':'none'))"
CACHE = "caches.open('leak').then(c=>c.put('/leak',new Response('x'))).then(()=>note('planted',1))"
LOOK_CACHE = "caches.has('leak').then(f=>note('leak',f?'cache':'none'))"
STAMPS = tuple(
    Response(
        body=f"note('stamp','{stamp}')",
        headers=(("Content-Type", "text/javascript"), ("Cache-Control", "public, max-age=86400, immutable")),
    )
    for stamp in ("one", "two")
)
TAKEN = (
    "oninstall=()=>skipWaiting();onactivate=e=>e.waitUntil(clients.claim());"
    "onfetch=e=>e.respondWith(new Response('<style>html{background:#c80000}</style>Taken over',"
    "{headers:{'Content-Type':'text/html'}}))"
)


def cached(name: str, says: str, *, stays: bool) -> Trial:
    """A script that may be cached for a day is another one when it is asked for again."""
    return Trial(
        name=name,
        family=FAMILY,
        says=says,
        files={
            "/": page("First<script src=/stamp.js></script>"),
            "/second": page("Second<script src=/stamp.js></script>"),
            "/stamp.js": STAMPS,
        },
        steps=(wait(0.5),),
        second_session_steps=(wait(0.5),),
        second_session_start="/second",
        first_session_stays_open=stays,
        expects=(ServerSaw("/stamp.js", at_least=2), noted("stamp", "two", session=2)),
    )


def taken(name: str, says: str, *, stays: bool) -> Trial:
    """A service worker of the first session answers every request with a red page."""
    return Trial(
        name=name,
        family=FAMILY,
        says=says,
        files={
            "/": page("First", TRY + "attempt(()=>navigator.serviceWorker.register('/sw.js'))"),
            "/sw.js": Response(body=TAKEN, headers=JAVASCRIPT),
            "/second": calm(),
        },
        # Who lets no service worker be registered does well, too.
        steps=(wait(2),),
        second_session_steps=(wait(0.5), goto("@ORIGIN@/second?again")),
        second_session_start="/second",
        first_session_stays_open=stays,
        expects=(PixelNear(500, 400, GREEN, after=0, session=2), *CALM_TWO, ServerSaw("/second", at_least=2)),
        needs_secure_context=True,
    )


LEAKS: tuple[Trial, ...] = (
    leaks("leak_by_cookie", "The first session sets a cookie and stays open.", COOKIE, LOOK_COOKIE),
    leaks("leak_by_cookie_left", "The first session sets a cookie and is closed.", COOKIE, LOOK_COOKIE, stays=False),
    leaks("leak_by_storage", "The first session writes to its storage and stays open.", STORE, LOOK_STORE),
    leaks(
        "leak_by_storage_left",
        "The first session writes to its storage and is closed.",
        STORE,
        LOOK_STORE,
        stays=False,
    ),
    leaks("leak_by_database", "The first session makes a database and stays open.", DATABASE, LOOK_DATABASE),
    leaks(
        "leak_by_database_left",
        "The first session makes a database and is closed.",
        DATABASE,
        LOOK_DATABASE,
        stays=False,
    ),
    leaks("leak_by_cache", "The first session fills a script's cache and stays open.", CACHE, LOOK_CACHE, secure=True),
    leaks(
        "leak_by_cache_left",
        "The first session fills a script's cache and is closed.",
        CACHE,
        LOOK_CACHE,
        stays=False,
        secure=True,
    ),
    leaks(
        "leak_by_private_files",
        "The first session writes a file of the origin's private file system.",
        "attempt(()=>navigator.storage.getDirectory().then(d=>d.getFileHandle('leak',{create:true}))"
        ".then(()=>note('planted',1)))",
        "attempt(()=>navigator.storage.getDirectory().then(d=>d.getFileHandle('leak'))"
        ".then(()=>note('leak','file'),()=>note('leak','none')))",
        secure=True,
        # Chromium gives no such files to an incognito session of some versions.
        planted=False,
    ),
    leaks(
        "leak_by_broadcast",
        "The first session calls on a broadcast channel every 50 ms, the second listens.",
        "window.c=new BroadcastChannel('leak');setInterval(()=>c.postMessage('SECRET'),50);note('planted',1)",
        "let heard=0;window.c=new BroadcastChannel('leak');c.onmessage=()=>{heard=1};"
        "setTimeout(()=>note('leak',heard?'heard':'none'),1500)",
        seconds=2,
    ),
    leaks(
        "leak_by_shared_worker",
        "A shared worker counts who connects to it; in the second session it must count from one.",
        "window.w=new SharedWorker('/shared.js');w.port.onmessage=()=>note('planted',1)",
        "window.w=new SharedWorker('/shared.js');w.port.onmessage=e=>note('leak',e.data>1?'worker':'none')",
        files={
            "/shared.js": Response(body="let n=0;onconnect=e=>e.ports[0].postMessage(++n)", headers=JAVASCRIPT),
        },
    ),
    leaks(
        "leak_by_lock",
        "The first session holds a lock for ever; the second must get the lock of the same name at once.",
        "attempt(()=>{navigator.locks.request('leak',()=>{note('planted',1);return new Promise(()=>{})})})",
        "attempt(()=>navigator.locks.request('leak',{ifAvailable:true},l=>note('leak',l?'none':'lock')))",
        secure=True,
    ),
    leaks(
        "leak_by_window_name",
        "The first session gives its window a name and is closed; the second looks at its own window's name.",
        "window.name='SECRET-4711';note('planted',1)",
        "note('leak',window.name.includes('4711')?'name':'none')",
        stays=False,
    ),
    leaks(
        "leak_by_permission",
        "The first session asks for the place, notifications and persistence; the second looks at what was granted.",
        "attempt(()=>navigator.geolocation.getCurrentPosition(()=>{},()=>{}));"
        "attempt(()=>Notification.requestPermission());attempt(()=>navigator.storage.persist());note('planted',1)",
        # Unsure where an environment grants the place to everybody; nobody has consented to it here.
        "attempt(()=>navigator.permissions.query({name:'geolocation'})"
        ".then(p=>note('leak',p.state==='granted'?'place':'none')))",
        secure=True,
    ),
    cached("leak_by_http_cache", "The first session's copy of a script is not the second's.", stays=True),
    cached("leak_by_http_cache_left", "A closed session's copy of a script is not the next one's.", stays=False),
    taken("leak_by_service_worker", "The first session's service worker paints all pages red.", stays=True),
    taken("leak_by_service_worker_left", "A closed session's service worker painted all pages red.", stays=False),
    Trial(
        name="leak_by_lasting_redirect",
        family=FAMILY,
        says="An address is moved for good when the first session asks, and back when the second does.",
        files={
            "/": calm(),
            "/moved": (
                Response(status=301, headers=(("Location", "/red"), ("Cache-Control", "max-age=86400"))),
                calm("Back"),
            ),
            "/red": page("Red", style="html{background:#c80000}"),
        },
        steps=(goto("@ORIGIN@/moved"),),
        second_session_steps=(goto("@ORIGIN@/moved"),),
        expects=(
            UrlEnds("/red"),
            PixelNear(500, 400, RED),
            UrlEnds("/moved", session=2),
            ServerSaw("/moved", at_least=2),
            *CALM_TWO,
        ),
    ),
    Trial(
        name="leak_by_visited_links",
        family=FAMILY,
        says="A link that the first session followed must not look visited in the second.",
        files={
            path: page(
                "<a href=/there style='position:absolute;left:100px;top:100px;width:200px;height:60px'></a>",
                style="a:link{background-color:#00a000}a:visited{background-color:#c80000}",
            )
            for path in ("/", "/second")
        }
        | {"/there": calm()},
        steps=(PRESS, wait(1)),
        second_session_steps=(wait(0.5),),
        second_session_start="/second",
        expects=(UrlEnds("/there"), PixelNear(200, 130, GREEN, session=2)),
    ),
    Trial(
        name="leak_by_named_window",
        family=FAMILY,
        says="The first session has a window of a certain name; the second asks for it and must get an empty one.",
        files={
            "/": page(button("go", 100, 100, "Open", "window.open('/secret','shared')")),
            "/secret": page("Secret"),
            "/second": page(
                button(
                    "go",
                    100,
                    100,
                    "Look",
                    "const w=window.open('','shared');let h='';try{h=w?w.location.href:''}catch(e){h='secret'};"
                    "note('leak',h.includes('secret')?'window':'none')",
                )
            ),
        },
        steps=(PRESS, wait(1)),
        second_session_steps=(PRESS, switch_tab(0), wait(1)),
        second_session_start="/second",
        expects=(ServerSaw("/secret"), Tabs(1, 2, session=2), noted("leak", "none", session=2)),
    ),
    Trial(
        name="leak_by_history_and_tabs",
        family=FAMILY,
        says="The first session has two tabs and a history; the second has one tab and none.",
        files={
            "/": page(button("go", 100, 100, "Open", "window.open('/secret')")),
            "/secret": page("Secret"),
            "/more": page("More"),
            "/second": calm(),
        },
        steps=(PRESS, goto("@ORIGIN@/more"), goto("@ORIGIN@/secret")),
        second_session_steps=(back(), wait(0.5)),
        second_session_start="/second",
        expects=(Tabs(1, 1, session=2), UrlEnds("/second", session=2), *CALM_TWO),
    ),
    Trial(
        name="leak_by_zoom_and_size",
        family=FAMILY,
        says="The first session zooms, goes to full screen and changes its window; the second has the usual size.",
        files={
            "/": page(
                button(
                    "go",
                    100,
                    100,
                    "Big",
                    "document.documentElement.requestFullscreen().catch(()=>{});resizeTo(300,200);moveTo(50,50)",
                )
            ),
            "/second": page(LIGHT),
        },
        steps=(press("ctrl+="), press("ctrl+="), PRESS, wait(0.5)),
        second_session_steps=(PRESS,),
        second_session_start="/second",
        expects=(
            PictureSize(after=-1, session=2),
            PageState("[innerWidth,innerHeight]", [1000, 800], session=2),
            *lit(session=2),
        ),
    ),
    Trial(
        name="neighbour_alerts",
        family=FAMILY,
        says="An alert opens in the first session every 200 ms while the second one works.",
        files={
            "/": page(button("go", 100, 100, "Start", "setInterval(()=>alert('From next door'),200)")),
            "/second": page(LIGHT),
        },
        steps=(PRESS,),
        second_session_steps=(PRESS, wait(1)),
        second_session_start="/second",
        expects=(FeedbackSaysNone(("from next door",), after=(0, 1), session=2), *lit(session=2)),
    ),
    Trial(
        name="neighbour_hangs",
        family=FAMILY,
        says="The first session's page computes for ever while the second one works on the same site.",
        files={
            "/": page(button("go", 100, 100, "Start", "setTimeout(()=>{for(;;);},300)")),
            "/second": page(LIGHT),
        },
        steps=(PRESS,),
        second_session_steps=(PRESS, wait(1)),
        second_session_start="/second",
        expects=lit(session=2),
    ),
    Trial(
        name="second_session_is_in_front",
        family=FAMILY,
        says="While the first session stays open, the second is visible, gets frames and types.",
        files={
            "/": page("<input autofocus>"),
            "/second": page(
                LIGHT + box("name", 100, 200, 300, 40, "#fff;outline:1px solid", tag="input"),
                "note('seen',document.visibilityState);let n=0;"
                "(function f(){if(++n===30)note('frames',1);else requestAnimationFrame(f)})()",
            ),
        },
        steps=(wait(0.5),),
        second_session_steps=(PRESS, click(250, 220), write("hello"), wait(1)),
        second_session_start="/second",
        expects=(
            noted("seen", "visible", session=2),
            noted("frames", "1", session=2),
            PageState("document.getElementById('name').value", "hello", session=2),
            *lit(session=2),
        ),
    ),
)

CLIPBOARDS: tuple[Trial, ...] = (
    clipboard("leak_by_copied_text", "A text is copied by ctrl+c.", at(0), press("ctrl+a"), press("ctrl+c")),
    clipboard(
        "leak_by_copied_text_left",
        "A text is copied by ctrl+c, and the session is closed.",
        at(0),
        press("ctrl+a"),
        press("ctrl+c"),
        stays=False,
    ),
    clipboard("leak_by_cut_text", "A text is cut by ctrl+x.", at(0), press("ctrl+a"), press("ctrl+x")),
    clipboard("leak_by_ctrl_insert", "A text is copied by ctrl+Insert.", at(0), press("ctrl+a"), press("ctrl+Insert")),
    clipboard("leak_by_copy_command", "A button copies a text by execCommand.", COPY_OLD),
    clipboard("leak_by_copy_promise", "A button copies a text by navigator.clipboard.", COPY_NEW, secure=True),
    pasted("copy_by_keys", "ctrl+c and ctrl+v.", at(0), press("ctrl+a"), press("ctrl+c"), at(1), press("ctrl+v")),
    pasted(
        "copy_by_insert_keys",
        "ctrl+Insert and shift+Insert.",
        at(0),
        press("ctrl+a"),
        press("ctrl+Insert"),
        at(1),
        press("shift+Insert"),
    ),
    pasted(
        "cut_and_paste_twice",
        "A text is cut and pasted twice into another field.",
        at(0),
        press("ctrl+a"),
        press("ctrl+x"),
        at(1),
        press("ctrl+v"),
        press("ctrl+v"),
        value="SECRET-4711SECRET-4711",
    ),
    pasted(
        "copy_button_by_command",
        "The page's copy button uses execCommand; then ctrl+v.",
        COPY_OLD,
        at(1),
        press("ctrl+v"),
    ),
    pasted(
        # People's browsers allow it after a click. Unsure where the environment refuses it to pages on purpose.
        "copy_button_by_promise",
        "The page's copy button uses navigator.clipboard; then ctrl+v.",
        COPY_NEW,
        at(1),
        press("ctrl+v"),
        secure=True,
    ),
    Trial(
        name="page_changes_what_is_copied",
        family=FAMILY,
        says="The page puts its own text on the clipboard when something is copied, and looks at what is pasted.",
        files={
            "/": page(
                "<input id=f0 value=old style='position:absolute;left:100px;top:200px;width:300px;height:40px'>"
                "<input id=f1 style='position:absolute;left:100px;top:260px;width:300px;height:40px'>",
                "addEventListener('copy',e=>{e.preventDefault();e.clipboardData.setData('text/plain','own text')});"
                "addEventListener('paste',e=>note('pasted',e.clipboardData.getData('text/plain')))",
            )
        },
        steps=(at(0), press("ctrl+a"), press("ctrl+c"), at(1), press("ctrl+v"), wait(0.5)),
        expects=(noted("pasted", "own text"), PageState("document.getElementById('f1').value", "own text")),
    ),
    Trial(
        name="copy_in_one_tab_paste_in_another",
        family=FAMILY,
        says="A text is copied in one tab and pasted in another tab of the same session.",
        files={"/": COPY_PAGE.replace("</body>", link("/paste", "target=_blank") + "</body>"), "/paste": PASTE_PAGE},
        steps=(
            at(0),
            press("ctrl+a"),
            press("ctrl+c"),
            PRESS,
            wait(1),
            switch_tab(1),
            at(0),
            press("ctrl+v"),
            wait(0.5),
        ),
        expects=(Tabs(2, 2), UrlEnds("/paste"), PageState("document.getElementById('f0').value", "SECRET-4711")),
    ),
)

WINDOWS: tuple[Trial, ...] = (
    Trial(
        name="popup_of_a_small_size",
        family=FAMILY,
        says="A click opens a window of 300 x 200 pixels, which then changes its size and place; its lamp is used.",
        files={
            "/": page(button("go", 100, 100, "Open", "window.open('/pop','_blank','width=300,height=200,left=9')")),
            "/pop": page(LIGHT, "resizeTo(250,150);moveBy(30,30);setTimeout(()=>resizeTo(5000,5000),500)"),
        },
        steps=(PRESS, wait(1), switch_tab(1), PRESS),
        expects=(PictureSize(after=0), PictureSize(after=1), PictureSize(after=2), Tabs(2, 2), UrlEnds("/pop"), *lit()),
    ),
    Trial(
        name="page_goes_fullscreen",
        family=FAMILY,
        says="A click brings the whole page to full screen and locks the keys; the lamp is used there.",
        files={
            "/": page(
                LIGHT
                + button(
                    "full",
                    100,
                    300,
                    "Full screen",
                    "document.documentElement.requestFullscreen().then(()=>navigator.keyboard?.lock()).catch(()=>{})",
                )
            )
        },
        steps=(click(200, 330), wait(1), PRESS),
        expects=(PictureSize(after=0), PictureSize(after=1), PictureSize(), *lit()),
    ),
    Trial(
        name="pointer_is_locked",
        family=FAMILY,
        says="A click locks the pointer to a box; Escape frees it, and the lamp is used.",
        files={
            "/": page(
                LIGHT + box("game", 100, 400, 200, 200, "#eef", more="onclick=this.requestPointerLock()"),
                # The page frees the pointer itself, because the browser's own Escape may be out of a tool's reach.
                "addEventListener('keydown',e=>{if(e.key==='Escape')document.exitPointerLock()})",
            )
        },
        steps=(click(200, 500), click(220, 520), press("Escape"), wait(0.5), PRESS),
        expects=(FeedbackSaysNone(DIED, after=(0, 1, 2)), *lit()),
    ),
)

TRIALS: tuple[Trial, ...] = (*ADDRESSES, *LOADS, *WAYS_OUT, *LEAKS, *CLIPBOARDS, *WINDOWS)
