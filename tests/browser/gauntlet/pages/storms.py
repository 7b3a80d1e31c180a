"""Storms and hangs: pages that never rest, never answer, or do far too much."""

from . import (
    CALM,
    DIED,
    GREEN,
    LAMP,
    SAYS_DIALOG,
    SAYS_FAILED,
    SAYS_LOADING,
    SAYS_STUCK,
    FeedbackAtMost,
    FeedbackSaysAny,
    FeedbackSaysNone,
    PageState,
    PixelNear,
    Response,
    ServerSaw,
    Tabs,
    Trial,
    UrlEnds,
    box,
    button,
    calm,
    click,
    drag,
    goto,
    lit,
    noted,
    page,
    scroll,
    switch_tab,
    wait,
    write,
)

FAMILY = "storms"
LIGHT = button("go", 100, 100, "Switch the lamp", "light()") + LAMP
PRESS = click(200, 130)

TRIALS: tuple[Trial, ...] = (
    Trial(
        name="fifty_alerts_in_one_click",
        family=FAMILY,
        says="A click opens fifty alerts, one after the other; another button is honest.",
        files={
            "/": page(
                LIGHT
                + button(
                    "many", 100, 300, "Fifty alerts", "for(let i=1;i<=50;i++){alert('Warning number '+i);note('n',i)}"
                )
            )
        },
        steps=(click(200, 330), wait(2), PRESS),
        expects=(FeedbackSaysAny((*SAYS_DIALOG, "warning number"), after=0), *lit()),
    ),
    Trial(
        # Who always dismisses dialogs never gets out of this one; the next trial is for who always accepts.
        name="confirm_until_accepted",
        family=FAMILY,
        says="A click asks again and again until the confirm dialog is accepted.",
        files={
            "/": page(button("ask", 100, 100, "Claim", "while(!confirm('Claim your prize?'));note('out',1)")),
            "/calm": calm(),
        },
        steps=(PRESS, wait(1), goto("@OTHER@/calm")),
        expects=(FeedbackSaysAny((*SAYS_DIALOG, "claim your prize"), after=0), UrlEnds("/calm"), *CALM),
    ),
    Trial(
        name="confirm_until_dismissed",
        family=FAMILY,
        says="A click asks again and again for as long as the confirm dialog is accepted.",
        files={
            "/": page(button("ask", 100, 100, "Leave", "while(confirm('Stay a little longer?'));note('out',1)")),
            "/calm": calm(),
        },
        steps=(PRESS, wait(1), goto("@OTHER@/calm")),
        expects=(FeedbackSaysAny((*SAYS_DIALOG, "stay a little longer"), after=0), UrlEnds("/calm"), *CALM),
    ),
    Trial(
        name="alert_every_fifth_of_a_second",
        family=FAMILY,
        says="From one second on, an alert opens every 200 ms, also between the steps.",
        files={"/": page(LIGHT, "setTimeout(()=>setInterval(()=>alert('Session expiring'),200),1000)")},
        steps=(wait(3), PRESS, wait(1), PRESS),
        # An alert stands nearly all the time, and a click under a dialog is lost. So only a sign of life is asked for.
        expects=(FeedbackSaysAny((*SAYS_DIALOG, "session expiring"), after=0), FeedbackSaysNone(DIED, after=3)),
    ),
    Trial(
        name="dialogs_of_a_background_tab",
        family=FAMILY,
        says="The opener alerts every 300 ms while the agent works in the tab that it opened.",
        files={
            "/": page(
                button("open", 100, 100, "Open", "window.open('/work');setInterval(()=>alert('From behind'),300)")
            ),
            "/work": page(LIGHT),
        },
        steps=(PRESS, wait(1), switch_tab(1), PRESS, wait(1)),
        # Opener and popup share a process, and an alert stops its main thread. The alerts must be answered for the
        # click to arrive. Unsure: how soon; therefore the lamp is looked at after one more second.
        expects=(Tabs(2, 2), *lit()),
    ),
    Trial(
        name="workers_spin",
        family=FAMILY,
        says="Six web workers compute for ever.",
        files={
            "/": page(
                LIGHT,
                "for(let i=0;i<6;i++)new Worker(URL.createObjectURL(new Blob(['for(;;){}'],{type:'text/javascript'})))",
            )
        },
        steps=(PRESS, wait(1)),
        expects=lit(),
    ),
    Trial(
        name="ads_reload_for_ever",
        family=FAMILY,
        says="Three advertisement frames reload themselves every 100 ms for ever.",
        files={
            "/": page(
                LIGHT
                + "".join(
                    box(f"ad{n}", 20 + 320 * n, 550, 300, 200, "#eee", tag="iframe", more=f"src=/ad?{n}")
                    for n in range(3)
                )
            ),
            "/ad": page("<p>Buy now</p>", "setTimeout(()=>location.reload(),100)", style="html{background:#ffd}"),
        },
        steps=(PRESS, wait(1)),
        expects=(*lit(), ServerSaw("/ad", at_least=9)),
    ),
    Trial(
        name="cross_site_ads_navigate_for_ever",
        family=FAMILY,
        says="Four cross-site frames go from one site to the other and back every 80 ms, changing process each time.",
        files={
            "/": page(
                LIGHT
                + "".join(
                    box(f"ad{n}", 20 + 240 * n, 550, 220, 200, "#eee", tag="iframe", more="src=@OTHER@/ping")
                    for n in range(4)
                )
            ),
            "/ping": page("ping", "setTimeout(()=>location.replace('@ORIGIN@/pong?'+Math.random()),80)"),
            "/pong": page("pong", "setTimeout(()=>location.replace('@OTHER@/ping?'+Math.random()),80)"),
        },
        steps=(PRESS, wait(1)),
        expects=(*lit(), ServerSaw("/pong", at_least=4)),
    ),
    Trial(
        name="promises_starve_the_page",
        family=FAMILY,
        says="A click starts an endless chain of microtasks, so that the main thread never returns.",
        files={
            "/": page(button("go", 100, 100, "Save", "const f=()=>Promise.resolve().then(f);f()")),
            "/calm": calm(),
        },
        steps=(PRESS, goto("@OTHER@/calm")),
        expects=(FeedbackSaysAny(SAYS_STUCK, after=0), UrlEnds("/calm"), *CALM),
    ),
    Trial(
        name="page_spins_three_seconds",
        family=FAMILY,
        says="A click computes for three seconds on the main thread and lights the lamp only then.",
        files={"/": page(LIGHT.replace("light()", "const t=Date.now();while(Date.now()-t<3000);light()"))},
        steps=(PRESS, wait(4)),
        expects=(FeedbackSaysNone(DIED, after=0), *lit()),
    ),
    Trial(
        name="sync_request_never_answered",
        family=FAMILY,
        says="A click sends a synchronous XMLHttpRequest that the server never answers.",
        files={
            "/": page(
                button("go", 100, 100, "Check", "const x=new XMLHttpRequest();x.open('GET','/hang',false);x.send()")
            ),
            "/hang": Response(hang=True),
            "/calm": calm(),
        },
        steps=(PRESS, goto("@OTHER@/calm")),
        expects=(FeedbackSaysAny(SAYS_STUCK, after=0), ServerSaw("/hang"), UrlEnds("/calm"), *CALM),
    ),
    Trial(
        name="animations_never_end",
        family=FAMILY,
        says="Two hundred boxes turn for ever, one frame loop and one zero-delay interval never stop.",
        files={
            "/": page(
                LIGHT
                + "<div id=field style='position:absolute;top:560px;width:1000px;height:200px;overflow:hidden'></div>",
                "for(let i=0;i<200;i++){const d=document.createElement('i');d.className='spin';"
                "d.style.left=i*5+'px';document.getElementById('field').append(d)}"
                "(function loop(){note('frame',performance.now());requestAnimationFrame(loop)})();"
                "setInterval(()=>note('tick',Math.random()),0)",
                style="@keyframes t{to{transform:rotate(1turn)}}.spin{position:absolute;width:20px;height:20px;"
                "background:#88f;animation:t .7s linear infinite}",
            )
        },
        steps=(PRESS, PRESS),
        expects=lit(),
    ),
    Trial(
        name="page_grows_without_end",
        family=FAMILY,
        says="Every 20 ms the page gets 200 more elements, up to 60,000.",
        files={
            "/": page(
                LIGHT + "<div style='margin-top:560px' id=end></div>",
                "let n=0;const t=setInterval(()=>{for(let i=0;i<200;i++){const p=document.createElement('button');"
                "p.textContent='Item '+n++;document.getElementById('end').append(p)}if(n>=60000)clearInterval(t)},20)",
            )
        },
        steps=(wait(3), PRESS, scroll(300, 700, 500)),
        expects=(*lit(), FeedbackAtMost(after=1)),
    ),
    Trial(
        name="observer_ping_pong",
        family=FAMILY,
        says="Two mutation observers answer each other's changes for ever, through zero-delay timers.",
        files={
            "/": page(
                LIGHT + "<p id=a></p><p id=b></p>",
                "const a=document.getElementById('a'),b=document.getElementById('b');"
                "new MutationObserver(()=>setTimeout(()=>b.textContent=Math.random())).observe(a,{childList:true});"
                "new MutationObserver(()=>setTimeout(()=>a.textContent=Math.random())).observe(b,{childList:true});"
                "a.textContent='start'",
            )
        },
        steps=(PRESS, wait(1)),
        expects=lit(),
    ),
    Trial(
        name="resize_observer_loop",
        family=FAMILY,
        says="A resize observer changes the size that it observes in every frame.",
        files={
            "/": page(
                LIGHT + box("r", 100, 600, 100, 100, "#88f"),
                "const r=document.getElementById('r');let n=0;"
                "new ResizeObserver(()=>{r.style.width=100+(++n%50)+'px'}).observe(r)",
            )
        },
        steps=(PRESS, wait(1)),
        expects=lit(),
    ),
    Trial(
        name="hash_flood",
        family=FAMILY,
        says="The fragment of the address changes every 10 ms until the stop button is pressed.",
        files={
            "/": page(
                LIGHT.replace("light()", "clearInterval(t);light()"),
                "let n=0;window.t=setInterval(()=>{location.hash='n'+n++},10)",
            )
        },
        steps=(wait(1), PRESS, wait(1)),
        expects=(*lit(), PageState("/^#n\\d+$/.test(document.location.hash)", True)),
    ),
    Trial(
        name="push_state_flood",
        family=FAMILY,
        says="history.pushState is called every 10 ms, with the title changing each time.",
        files={
            "/": page(
                LIGHT.replace("light()", "clearInterval(t);light()"),
                "let n=0;window.t=setInterval(()=>{n++;document.title='Step '+n;"
                "history.pushState({n},'','/step/'+n)},10)",
            )
        },
        steps=(wait(1), PRESS, wait(1)),
        # Chromium throttles more than 200 changes in 10 seconds; the calls are then ignored, the page goes on.
        expects=(*lit(), PageState("document.location.pathname.startsWith('/step/')", True)),
    ),
    Trial(
        name="meta_refresh_chain",
        family=FAMILY,
        says="A link leads through eight pages that send the visitor on by meta refresh at once.",
        files={
            "/": page(box("go", 100, 100, 200, 60, "#ddd", text="Enter", tag="a", more="href=/r0")),
            **{
                f"/r{n}": page("On", head=f"<meta http-equiv=refresh content='0;url=/r{n + 1}'>", title=f"Stop {n}")
                for n in range(8)
            },
            "/r8": calm("Arrived"),
        },
        steps=(PRESS, wait(4)),
        expects=(UrlEnds("/r8"), *CALM),
    ),
    Trial(
        name="redirect_loop_from_a_link",
        family=FAMILY,
        says="A link leads into a loop of two 302 redirects.",
        files={
            "/": page(box("go", 100, 100, 200, 60, "#ddd", text="Enter", tag="a", more="href=/a")),
            "/a": Response(status=302, headers=(("Location", "/b"),)),
            "/b": Response(status=302, headers=(("Location", "/a"),)),
            "/calm": calm(),
        },
        steps=(PRESS, goto("@ORIGIN@/calm")),
        expects=(FeedbackSaysAny((*SAYS_FAILED, "redirect"), after=0), UrlEnds("/calm"), *CALM),
    ),
    Trial(
        name="redirects_through_set_cookie",
        family=FAMILY,
        says="The page redirects itself to set a cookie, nineteen times, and then answers.",
        files={
            "/": page(box("go", 100, 100, 200, 60, "#ddd", text="Enter", tag="a", more="href=/wall")),
            "/wall": (
                *(
                    Response(status=307, headers=(("Location", "/wall"), ("Set-Cookie", f"visit={n}")))
                    for n in range(19)
                ),
                calm("Through the wall"),
            ),
        },
        steps=(PRESS,),
        # Chromium gives up after the 20th redirect, so 19 are still followed.
        expects=(UrlEnds("/wall"), *CALM),
    ),
    Trial(
        name="document_never_ends",
        family=FAMILY,
        says="The document is open for ever: a line more every half second.",
        files={
            "/": Response(
                body=page(LIGHT).replace("</body></html>", ""),
                chunks=((0.5, "<!-- more --><p>more</p>"),),
                repeat_chunks=True,
            )
        },
        steps=(PRESS, wait(1)),
        expects=(*lit(), PageState("document.readyState", "loading")),
    ),
    Trial(
        name="script_in_the_middle_hangs",
        family=FAMILY,
        says="After the first half of the body comes a script that is never delivered.",
        files={
            "/": page(box("top", 0, 0, 1000, 300, "#00a000") + "<script src=/hang.js></script>" + LAMP),
            "/hang.js": Response(hang=True),
            "/calm": calm(),
        },
        steps=(wait(1), goto("@ORIGIN@/calm")),
        expects=(PixelNear(500, 150, GREEN, after=0), FeedbackSaysAny(SAYS_LOADING, after=0), *CALM),
    ),
    Trial(
        name="script_headers_only",
        family=FAMILY,
        says="A deferred script sends headers and three bytes, then nothing; the page is otherwise whole.",
        files={
            "/": page(LIGHT, head="<script defer src=/half.js></script>"),
            "/half.js": Response(
                headers=(("Content-Type", "text/javascript"), ("Content-Length", "50000")), body="let", chunks=()
            ),
        },
        # The server sends 3 of 50,000 bytes. Whether it then closes or waits, the lamp works.
        steps=(PRESS, wait(1)),
        expects=lit(),
    ),
    Trial(
        name="images_use_up_the_connections",
        family=FAMILY,
        says="Forty images of this site are never answered, so every connection to it is taken.",
        files={
            "/": page(LIGHT + "".join(f"<img src=/hang?{n} width=10 height=10>" for n in range(40))),
            "/hang": Response(hang=True),
            "/calm": calm(),
        },
        steps=(PRESS, goto("@OTHER@/calm")),
        expects=(*lit(after=0), FeedbackSaysAny(SAYS_LOADING, after=0), ServerSaw("/hang"), UrlEnds("/calm"), *CALM),
    ),
    Trial(
        name="font_never_arrives",
        family=FAMILY,
        says="The text waits for a web font (font-display: block) that never comes.",
        files={
            "/": page(
                LIGHT + "<h1>Headline in the font</h1>",
                style="@font-face{font-family:Slow;src:url(/hang.woff2);font-display:block}body{font-family:Slow}",
            ),
            "/hang.woff2": Response(hang=True),
        },
        steps=(PRESS, wait(1)),
        expects=(*lit(), ServerSaw("/hang.woff2")),
    ),
    Trial(
        name="media_never_arrive",
        family=FAMILY,
        says="An autoplaying video and an audio wait for data that never come.",
        files={
            "/": page(
                LIGHT
                + box("v", 100, 560, 300, 200, "#000", tag="video", more="autoplay muted loop src=/hang.mp4")
                + "<audio autoplay src=/hang.mp3></audio>"
            ),
            "/hang.mp4": Response(hang=True),
            "/hang.mp3": Response(hang=True),
        },
        steps=(PRESS, click(250, 660), wait(1)),
        expects=lit(),
    ),
    Trial(
        name="event_source_reconnects",
        family=FAMILY,
        says="Five event streams are closed by the server at once and reconnect every 10 ms.",
        files={
            "/": page(LIGHT, "for(let i=0;i<5;i++)new EventSource('/events?'+i)"),
            "/events": Response(
                headers=(("Content-Type", "text/event-stream"), ("Cache-Control", "no-store")),
                body="retry: 10\ndata: hello\n\n",
            ),
        },
        steps=(PRESS, wait(2)),
        expects=(*lit(), ServerSaw("/events", at_least=10)),
    ),
    Trial(
        name="long_poll_as_chat_apps_do",
        family=FAMILY,
        says="One fetch is always waiting for the server, as in a chat; the network is never idle.",
        files={
            "/": page(LIGHT, "(async()=>{for(;;){try{await(await fetch('/poll')).text()}catch(e){}}})()"),
            "/poll": Response(delay_s=1.5, body="nothing new", headers=(("Content-Type", "text/plain"),)),
        },
        steps=(PRESS, wait(1)),
        expects=(*lit(), FeedbackSaysNone(("timed out", "timeout", *DIED), after=0)),
    ),
    Trial(
        name="popups_breed",
        family=FAMILY,
        says="A click opens a popup, and each popup opens two more as it loads.",
        files={
            "/": page(LIGHT + button("breed", 100, 300, "Free games", "window.open('/breed')")),
            "/breed": page("<p>Win</p>", "window.open('/breed?a'+Math.random());window.open('/breed?b'+Math.random())"),
            "/calm": calm(),
        },
        steps=(click(200, 330), wait(2), switch_tab(0), PRESS),
        # Popups without a click are let through if the popup blocker is off. However many, there is a limit.
        expects=(Tabs(1, 60), *lit()),
    ),
    Trial(
        name="popup_flickers",
        family=FAMILY,
        says="A click opens and closes a popup twenty times within two seconds.",
        files={
            "/": page(
                LIGHT
                + button(
                    "flicker",
                    100,
                    300,
                    "Preview",
                    "let n=0;const t=setInterval(()=>{const w=window.open('/p','p'+n);setTimeout(()=>w&&w.close(),50);"
                    "if(++n==20){clearInterval(t);note('over',1)}},100)",
                )
            ),
            "/p": page("<p>Preview</p>"),
        },
        steps=(click(200, 330), wait(4), switch_tab(0), PRESS),
        expects=(Tabs(1, 1), noted("over", "1"), *lit()),
    ),
    Trial(
        name="elements_deeply_nested",
        family=FAMILY,
        says="The button lies inside 1,200 nested elements.",
        files={
            "/": page(
                LAMP,
                "let d=document.body;for(let i=0;i<1200;i++){const e=document.createElement('div');d.append(e);d=e}"
                'd.innerHTML=\'<button style="position:absolute;left:100px;top:100px;width:200px;height:60px" '
                "onclick=light()>Deep</button>'",
            )
        },
        steps=(PRESS,),
        expects=(*lit(), FeedbackAtMost()),
    ),
    Trial(
        name="names_of_megabytes",
        family=FAMILY,
        says="The button has two million characters of text, label and title.",
        files={
            "/": page(
                LIGHT,
                "const b=document.getElementById('go'),s='Lorem ipsum '.repeat(170000);b.style.overflow='hidden';"
                "b.setAttribute('aria-label',s);b.title=s;b.append(s);document.title=s;document.body.id=s",
            )
        },
        steps=(PRESS,),
        expects=(*lit(), FeedbackAtMost()),
    ),
    Trial(
        name="wheel_listener_blocks",
        family=FAMILY,
        says="A wheel listener that is not passive computes one second for each event, then lets it scroll.",
        files={
            "/": page(
                LIGHT + "<div style='height:5000px'></div>",
                "addEventListener('wheel',()=>{const t=Date.now();while(Date.now()-t<1000);},{passive:false});"
                "addEventListener('scroll',()=>note('moved',1))",
            )
        },
        steps=(scroll(300, 600, 400), wait(2)),
        expects=(noted("moved", "1"), FeedbackSaysNone(DIED, after=0)),
    ),
    Trial(
        name="pointer_moves_are_costly",
        family=FAMILY,
        says="Each pointer move costs 150 ms of the main thread; a drag makes many.",
        files={
            "/": page(
                LIGHT + box("field", 0, 540, 1000, 260, "#eef"),
                "document.getElementById('field').onpointermove=()=>{const t=Date.now();while(Date.now()-t<150);}",
            )
        },
        steps=(drag(50, 700, 950, 700), PRESS),
        # Chromium joins moves that wait, so the whole drag does not take 150 ms times its moves.
        expects=lit(),
    ),
    Trial(
        name="frame_spins_for_ever",
        family=FAMILY,
        says="A cross-site advertisement frame computes for ever in its own process.",
        files={
            "/": page(LIGHT + box("ad", 100, 560, 300, 200, "#eee", tag="iframe", more="src=@OTHER@/ad")),
            "/ad": page("<p>Ad</p>", "setTimeout(()=>{for(;;){}},500)"),
        },
        steps=(wait(1), PRESS, click(250, 660), wait(1)),
        # With site isolation the frame has its own process, and the page outside stays alive. Unsure where site
        # isolation is off (small machines): then the whole tab hangs, and only the implied checks can hold.
        expects=(*lit(after=1), FeedbackSaysNone(DIED)),
    ),
    Trial(
        name="opener_spins_four_seconds",
        family=FAMILY,
        says="The tab that opened the active one computes for four seconds in the process that both share.",
        files={
            "/": page(
                button(
                    "go",
                    100,
                    100,
                    "Open",
                    "window.open('/work');setTimeout(()=>{const t=Date.now();while(Date.now()-t<4000);},1500)",
                )
            ),
            "/work": page(LIGHT),
        },
        steps=(PRESS, switch_tab(1), wait(1), PRESS, wait(5)),
        expects=(Tabs(2, 2), *lit()),
    ),
    Trial(
        name="leaving_takes_five_seconds",
        family=FAMILY,
        says="The pagehide handler computes for five seconds when the page is left.",
        files={
            "/": page(
                box("go", 100, 100, 200, 60, "#ddd", text="Next", tag="a", more="href=/calm"),
                "addEventListener('pagehide',()=>{const t=Date.now();while(Date.now()-t<5000);})",
            ),
            "/calm": calm(),
        },
        steps=(PRESS, wait(6)),
        expects=(UrlEnds("/calm"), *CALM),
    ),
    Trial(
        name="two_pages_send_back_and_forth",
        family=FAMILY,
        says="One page goes on to the next as it loads, and the next goes back in the history as it loads.",
        files={
            "/": page(box("go", 100, 100, 200, 60, "#ddd", text="Enter", tag="a", more="href=/a")),
            "/a": page("a", "addEventListener('pageshow',()=>setTimeout(()=>location.assign('/b'),50))"),
            "/b": page("b", "addEventListener('pageshow',()=>setTimeout(()=>history.back(),50))"),
            "/calm": calm(),
        },
        steps=(PRESS, wait(1), goto("@OTHER@/calm"), wait(1)),
        # The explicit navigation starts after the others and leaves the page; unsure whether a back that was already
        # under way may win in rare cases.
        expects=(UrlEnds("/calm"), *CALM),
    ),
    Trial(
        name="document_written_and_never_closed",
        family=FAMILY,
        says="A click opens the document anew, writes a green page into it, and never closes it.",
        files={
            "/": page(
                button(
                    "go",
                    100,
                    100,
                    "Print view",
                    "document.open();document.write('<style>html{background:#00a000}</style><p>Written')",
                )
            )
        },
        steps=(PRESS, wait(1)),
        expects=(PageState("document.readyState", "loading"), *CALM),
    ),
    Trial(
        name="print_again_and_again",
        family=FAMILY,
        says="The page calls window.print every 300 ms.",
        files={"/": page(LIGHT, "setInterval(()=>{try{print()}catch(e){}},300)")},
        steps=(wait(1), PRESS, wait(1)),
        # Unsure: whether a print preview in a full Chromium stops the main thread. The headless shell shows none.
        expects=lit(),
    ),
    Trial(
        name="connection_dropped_on_click",
        family=FAMILY,
        says="A link leads to an address where the server hangs up without an answer.",
        files={
            "/": page(box("go", 100, 100, 200, 60, "#ddd", text="Enter", tag="a", more="href=/drop")),
            "/drop": Response(drop=True),
            "/calm": calm(),
        },
        steps=(PRESS, wait(1), goto("@ORIGIN@/calm")),
        expects=(FeedbackSaysAny((*SAYS_FAILED, "load", "empty"), after=(0, 1)), UrlEnds("/calm"), *CALM),
    ),
    Trial(
        name="link_never_answered",
        family=FAMILY,
        says="A link leads to an address that is never answered; the old page stays alive meanwhile.",
        files={
            "/": page(LIGHT + box("slow", 100, 300, 200, 60, "#ddd", text="Report", tag="a", more="href=/hang")),
            "/hang": Response(hang=True),
        },
        steps=(click(200, 330), PRESS),
        # The old document stays and works until the new one answers.
        expects=(FeedbackSaysAny(SAYS_LOADING, after=0), ServerSaw("/hang"), *lit()),
    ),
    Trial(
        name="twenty_downloads_in_one_click",
        family=FAMILY,
        says="A click starts twenty downloads, half of them endless.",
        files={
            "/": page(
                LIGHT
                + button(
                    "get",
                    100,
                    300,
                    "Get all",
                    "for(let i=0;i<20;i++){setTimeout(()=>{const a=document.createElement('a');"
                    "a.href=(i%2?'/file?':'/endless?')+i;a.download='f'+i+'.bin';a.click()},i*50)}",
                )
            ),
            "/file": Response(
                body="data",
                headers=(("Content-Type", "application/octet-stream"), ("Content-Disposition", "attachment")),
            ),
            "/endless": Response(
                headers=(("Content-Type", "application/octet-stream"), ("Content-Disposition", "attachment")),
                chunks=((0.2, "0123456789" * 100),),
                repeat_chunks=True,
            ),
        },
        steps=(click(200, 330), wait(2), PRESS),
        expects=(Tabs(1, 1), UrlEnds("/"), *lit()),
    ),
    Trial(
        name="frames_thirty_deep",
        family=FAMILY,
        says="Thirty frames of the same site lie one in another; the button is in the innermost.",
        files={
            "/": page(LAMP + box("f", 0, 0, 500, 300, "#fff", tag="iframe", more="src=/f1")),
            **{
                f"/f{n}": page(
                    box("f", 0, 0, 500, 300, "#fff", tag="iframe", more=f"src=/f{n + 1}"), title=f"Level {n}"
                )
                for n in range(1, 30)
            },
            "/f30": page(button("go", 100, 100, "Innermost", "tell('lamp',1)")),
        },
        steps=(wait(3), PRESS),
        expects=(ServerSaw("/f30"), *lit()),
    ),
    Trial(
        name="focus_ping_pong",
        family=FAMILY,
        says="Two fields give each other the focus for ever, 20 ms apart; text lands in both.",
        files={
            "/": page(
                LIGHT
                + box("a", 100, 300, 200, 40, "#fff", tag="input")
                + box("b", 100, 400, 200, 40, "#fff", tag="input"),
                "const a=document.getElementById('a'),b=document.getElementById('b');"
                "a.onfocus=()=>setTimeout(()=>b.focus(),20);b.onfocus=()=>setTimeout(()=>a.focus(),20)",
            )
        },
        steps=(click(200, 320), write("abcdef"), PRESS),
        expects=(
            PageState(
                "document.getElementById('a').value.length+document.getElementById('b').value.length", 6, after=1
            ),
            *lit(),
        ),
    ),
)
