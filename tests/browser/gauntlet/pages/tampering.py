"""Tampering: pages that change every global, prototype and name that a probe could touch.

Nearly all of them are one ordinary page (a button, a field, a lamp, a long body) plus one tampering. The ordinary page
keeps its own references from before, so that it goes on working. What it did is noted on the root element.
"""

from . import (
    CALM,
    DIED,
    GREEN,
    LAMP,
    NOTHING_MOVED,
    Expect,
    FeedbackAtMost,
    FeedbackSaysNone,
    PageState,
    PixelNear,
    Response,
    Step,
    Trial,
    UrlEnds,
    back,
    box,
    button,
    calm,
    click,
    goto,
    lit,
    not_noted,
    noted,
    page,
    press,
    scroll,
    wait,
    write,
)

FAMILY = "tampering"

BODY = (
    box("go", 100, 100, 200, 60, text="Switch the lamp", tag="button")
    + box("name", 100, 200, 300, 40, "#fff;outline:1px solid #000", tag="input", more='aria-label="Name"')
    + LAMP
    + "<div style='height:3000px'></div>"
)
HANDLERS = """{
const root=document.documentElement,d=root.dataset,css=document.getElementById('lamp').style;
const go=document.getElementById('go'),field=document.getElementById('name');
go.onclick=()=>{css.background='#00a000';d.lamp='1'};
field.oninput=()=>{d.typed=field.value};
onscroll=()=>{d.moved='1'};
}"""


def tampered(script: str, *, early: str = "", body: str = "") -> str:
    """The ordinary page, tampered with at its end (`script`) or before anything else (`early`)."""
    return page(BODY + body + f"<script>{HANDLERS}</script>", script, head=f"<script>{early}</script>" if early else "")


STEPS: tuple[Step, ...] = (click(200, 130), click(250, 220), write("hello"), scroll(300, 600, 400))
WORKS: tuple[Expect, ...] = (
    FeedbackSaysNone(DIED, after=(0, 1, 2, 3)),
    FeedbackSaysNone(NOTHING_MOVED, after=3),
    PixelNear(700, 400, GREEN),
    noted("lamp", "1"),
    noted("typed", "hello"),
    noted("moved", "1"),
)
"""All that the ordinary page does still happens, and is not denied."""


def usual(
    name: str, says: str, script: str, *, early: str = "", body: str = "", more: tuple[Expect, ...] = ()
) -> Trial:
    """The ordinary page with one tampering, and the ordinary steps."""
    return Trial(
        name=name,
        family=FAMILY,
        says=says,
        files={"/": tampered(script, early=early, body=body)},
        steps=STEPS,
        expects=(*WORKS, *more),
    )


FORM_NAMES = (
    "tagName",
    "id",
    "nodeName",
    "nodeType",
    "localName",
    "parentNode",
    "parentElement",
    "children",
    "childNodes",
    "attributes",
    "getAttribute",
    "hasAttribute",
    "innerText",
    "textContent",
    "getBoundingClientRect",
    "closest",
    "matches",
    "role",
    "ownerDocument",
    "isConnected",
    "offsetParent",
    "shadowRoot",
    "style",
    "className",
    "classList",
    "contains",
    "labels",
    "getRootNode",
    "scrollTop",
    "scrollLeft",
    "scrollHeight",
    "clientHeight",
    "addEventListener",
    "title",
    "type",
    "value",
)
"""Members of an element that a field of that name hides."""


TRIALS: tuple[Trial, ...] = (
    usual(
        "builtins_frozen",
        "All built-in constructors and prototypes are frozen, as hardened frameworks do.",
        "for(const k of Object.getOwnPropertyNames(globalThis)){try{const v=globalThis[k];"
        "if(typeof v==='function'){Object.freeze(v);v.prototype&&Object.freeze(v.prototype)}}catch(e){}}",
    ),
    usual(
        "object_prototype_answers_for_all",
        "Object.prototype has enumerable getters for id, x, y, type, text, url, error and more, all of them lies.",
        "for(const k of ['id','x','y','ok','type','text','url','error','result','role','name','width','height','tag',"
        "'reason','key','state','status','label','kind','ready','moved'])Object.defineProperty(Object.prototype,k,"
        "{get(){return 'evil'},set(v){},enumerable:true,configurable:true})",
        more=(FeedbackSaysNone(("evil",), after=(0, 1, 2, 3)),),
    ),
    usual(
        "every_object_is_thenable",
        "Object.prototype.then is a function that never calls back, so awaiting any object never ends.",
        "Object.defineProperty(Object.prototype,'then',{value(){},configurable:true,writable:true})",
    ),
    usual(
        "descriptors_polluted",
        "Object.prototype has get and set, so that Object.defineProperty with a value throws.",
        "Object.prototype.set=function(){};Object.prototype.get=function(){return 'evil'}",
    ),
    usual(
        "array_indexes_are_setters",
        "Array.prototype has accessors at 0 to 9 that swallow what is stored and give lies back.",
        "for(let i=0;i<10;i++)Object.defineProperty(Array.prototype,i,{get(){return 'evil'},set(v){},"
        "configurable:true})",
        more=(FeedbackSaysNone(("evil",), after=(0, 1, 2, 3)),),
    ),
    usual(
        "iterators_removed",
        "Arrays, node lists, maps, sets and strings can no longer be iterated.",
        "for(const c of [NodeList,HTMLCollection,DOMTokenList,Map,Set,String,Array])delete "
        "c.prototype[Symbol.iterator]",
    ),
    usual(
        "json_lies",
        "JSON.stringify always gives the same lie, and JSON.parse throws.",
        'JSON.stringify=()=>\'{"x":1e308,"y":null,"scrollY":-1,"text":"evil"}\';JSON.parse=()=>{throw new Error("no")}',
        more=(FeedbackSaysNone(("evil",), after=(0, 1, 2, 3)),),
    ),
    usual(
        "promises_never_call_back",
        "Promise.prototype.then, catch and finally do nothing, and Promise.resolve throws.",
        "for(const k of ['then','catch','finally'])Promise.prototype[k]=function(){return this};"
        "Promise.resolve=Promise.all=Promise.race=()=>{throw 1}",
    ),
    usual(
        "geometry_lies",
        "Every rectangle is infinite or not a number, and elementFromPoint always names a hidden delete button.",
        "const nope=document.getElementById('nope');Element.prototype.getBoundingClientRect=()=>"
        "({x:NaN,y:1/0,left:NaN,top:-1/0,right:NaN,bottom:1/0,width:-1,height:NaN});"
        "Element.prototype.getClientRects=()=>null;Document.prototype.elementFromPoint=()=>nope;"
        "Document.prototype.elementsFromPoint=()=>[nope,window,null];Document.prototype.caretRangeFromPoint=()=>({})",
        body="<button id=nope hidden>Delete account</button>",
        more=(FeedbackSaysNone(("delete account",), after=(0, 1)),),
    ),
    usual(
        "scroll_positions_always_zero",
        "Every way to read a scroll position says zero, and every height says 800.",
        "for(const k of ['scrollY','pageYOffset','scrollX','pageXOffset'])Object.defineProperty(window,k,{get:()=>0});"
        "for(const k of ['scrollTop','scrollLeft'])Object.defineProperty(Element.prototype,k,{get:()=>0,set(){}});"
        "for(const k of ['scrollHeight','clientHeight'])Object.defineProperty(Element.prototype,k,{get:()=>800});"
        "Object.defineProperty(document,'scrollingElement',{get:()=>null});delete window.visualViewport",
    ),
    Trial(
        name="scroll_positions_dance",
        family=FAMILY,
        says="The page has nothing to scroll, but each reading of a scroll position gives another number.",
        files={
            "/": page(
                button("go", 100, 100, "Switch the lamp", "light()") + LAMP,
                "for(const k of ['scrollY','pageYOffset'])Object.defineProperty(window,k,{get:()=>Math.random()*9000});"
                "Object.defineProperty(Element.prototype,'scrollTop',{get:()=>Math.random()*9000})",
            )
        },
        steps=(scroll(300, 600, 400), click(200, 130)),
        expects=(
            FeedbackSaysNone(("scrolled by", "scrolled down", "moved by", "moved down"), after=0),
            *lit(),
        ),
    ),
    usual(
        "styles_and_shadows_spin",
        "getComputedStyle, shadowRoot and checkVisibility never return.",
        "const spin=()=>{for(;;);};window.getComputedStyle=spin;Element.prototype.checkVisibility=spin;"
        "Element.prototype.computedStyleMap=spin;"
        "Object.defineProperty(Element.prototype,'shadowRoot',{get:spin,configurable:true})",
    ),
    usual(
        "collections_are_endless",
        "querySelectorAll, getElementsByTagName, TreeWalker and childNodes go on for ever.",
        "const more=()=>({length:1e9,item(){return document.body},*[Symbol.iterator](){for(;;)yield document.body}});"
        "for(const p of [Document.prototype,Element.prototype]){p.querySelectorAll=more;p.getElementsByTagName=more}"
        "TreeWalker.prototype.nextNode=function(){return document.body};"
        "Object.defineProperty(Node.prototype,'childNodes',{get:more});"
        "Object.defineProperty(Element.prototype,'children',{get:more});"
        "Object.defineProperty(Node.prototype,'parentNode',{get(){return this}});"
        "Object.defineProperty(Node.prototype,'parentElement',{get(){return this}})",
    ),
    usual(
        "selection_throws",
        "getSelection and every range method throw.",
        "window.getSelection=document.getSelection=()=>{throw new RangeError('mine')};"
        "document.createRange=()=>{throw new RangeError('mine')};Selection.prototype.toString=()=>{throw 1}",
    ),
    usual(
        "focus_lies",
        "document.activeElement always names a password field, and document.hasFocus is always false.",
        "const other=document.getElementById('other');"
        "Object.defineProperty(document,'activeElement',{get:()=>other});document.hasFocus=()=>false",
        body=box("other", 100, 700, 200, 30, "#fff", tag="input", more="type=password aria-label='Secret word'"),
        more=(FeedbackSaysNone(("secret word",), after=(1, 2)),),
    ),
    Trial(
        name="document_clobbered_by_forms",
        family=FAMILY,
        says="Forms named body, documentElement, activeElement, readyState and so on hide those of the document.",
        files={
            "/": tampered(
                "{const b=document.body;for(const n of ['body','documentElement','activeElement','readyState','hidden',"
                "'visibilityState','scrollingElement','querySelector','querySelectorAll','getElementById','hasFocus',"
                "'defaultView','createElement','createTreeWalker','fonts','getAnimations','elementsFromPoint','URL',"
                "'documentURI','forms','addEventListener','evaluate','nodeType','contentType','timeline'])"
                "b.insertAdjacentHTML('beforeend','<form name='+n+'></form>')}"
            )
        },
        steps=STEPS,
        expects=(
            FeedbackSaysNone(DIED, after=(0, 1, 2, 3)),
            FeedbackSaysNone((*NOTHING_MOVED, "[object", "htmlform"), after=3),
            PixelNear(700, 400, GREEN),
            PageState("document.lastChild.dataset.lamp", "1"),
            PageState("document.lastChild.dataset.typed", "hello"),
            PageState("document.lastChild.dataset.moved", "1"),
        ),
    ),
    Trial(
        name="form_clobbered_by_its_fields",
        family=FAMILY,
        says="A form that scrolls has fields named tagName, id, parentNode, scrollTop, closest and so on.",
        files={
            "/": page(
                LAMP
                + box(
                    "f",
                    0,
                    0,
                    500,
                    800,
                    "#eef;overflow:auto",
                    tag="form",
                    more="onclick=light() onscroll=note('moved',1)",
                    text="".join(f"<input type=hidden name={n}>" for n in FORM_NAMES)
                    + "<div style='height:4000px'></div>",
                )
            )
        },
        steps=(click(250, 400), scroll(250, 400, 300), wait(1)),
        expects=(
            FeedbackSaysNone((*DIED, "[object", "htmlinput"), after=0),
            FeedbackSaysNone(NOTHING_MOVED, after=1),
            noted("moved", "1"),
            *lit(),
        ),
    ),
    Trial(
        name="field_value_throws",
        family=FAMILY,
        says="The field's own value, type, selectionStart and labels are getters that throw.",
        files={
            "/": page(
                BODY,
                "const f=document.getElementById('name');for(const k of ['value','type','selectionStart','labels',"
                "'isContentEditable','tagName','id'])Object.defineProperty(f,k,{get(){throw new Error('mine')},"
                "set(){throw 1}})",
            )
        },
        steps=(click(250, 220), write("hello")),
        expects=(
            FeedbackSaysNone(DIED, after=(0, 1)),
            PageState(
                "Object.getOwnPropertyDescriptor(HTMLInputElement.prototype,'value').get"
                ".call(document.getElementById('name'))",
                "hello",
            ),
        ),
    ),
    Trial(
        name="address_and_title_lie",
        family=FAMILY,
        says="document.URL, documentURI, baseURI, referrer and title all claim to be a bank.",
        files={
            "/": tampered(
                "for(const k of ['URL','documentURI','baseURI','referrer','domain','title'])"
                "Object.defineProperty(document,k,{get:()=>'https://bank.example/account'});"
                "window.origin='https://bank.example'"
            )
        },
        steps=STEPS,
        # The title element itself says Trial, so not even a title may say bank.
        expects=(*WORKS, FeedbackSaysNone(("bank.example",), after=(0, 1, 2, 3)), UrlEnds("/")),
    ),
    usual(
        "viewport_lies",
        "innerWidth, devicePixelRatio, visualViewport and screen are nonsense.",
        "for(const [k,v] of Object.entries({innerWidth:7,innerHeight:-1,outerWidth:1e9,outerHeight:'tall',"
        "devicePixelRatio:NaN,visualViewport:{scale:50,offsetTop:1e6,width:0},screen:null}))"
        "Object.defineProperty(window,k,{get:()=>v});window.matchMedia=null;"
        "for(const p of [Element.prototype,HTMLElement.prototype])for(const k of ['clientWidth',"
        "'offsetWidth','offsetHeight'])"
        "Object.defineProperty(p,k,{get:()=>NaN})",
    ),
    usual(
        "console_is_hostile",
        "Twenty thousand console messages with objects whose getters throw, and then a console that throws.",
        "for(let i=0;i<20000;i++)console.log({get a(){throw 1},i});"
        "for(const k of Object.keys(console))console[k]=()=>{throw new Error('mine')}",
    ),
    usual(
        "debugger_statements",
        "A debugger statement runs every 20 ms, as pages do that want no developer tools.",
        "setInterval(()=>{(function(){}).constructor('debugger')()},20);setInterval(()=>{debugger},20)",
    ),
    Trial(
        name="window_swallows_all_events",
        family=FAMILY,
        says="The window catches every event first, stops it, and prevents what would follow.",
        files={
            "/": tampered(
                "",
                early="for(const k of ['pointerdown','pointerup','mousedown','mouseup','click','keydown','keypress',"
                "'keyup',"
                "'beforeinput','input','wheel','contextmenu'])addEventListener(k,e=>{e.stopImmediatePropagation();"
                "e.preventDefault()},{capture:true,passive:false})",
            )
        },
        steps=STEPS,
        expects=(
            FeedbackSaysNone(DIED, after=(0, 1, 2, 3)),
            FeedbackSaysNone(('holds "hello"', "holds 'hello'", "holds hello"), after=2),
            FeedbackSaysNone(("everything is in view", "nothing to scroll"), after=3),
            not_noted("lamp"),
            not_noted("typed"),
            not_noted("moved"),
        ),
    ),
    usual(
        "listeners_and_observers_throw",
        "addEventListener throws, and every kind of observer throws when made.",
        "EventTarget.prototype.addEventListener=EventTarget.prototype.removeEventListener=()=>{throw "
        "new Error('mine')};"
        "for(const k of ['IntersectionObserver','ResizeObserver','PerformanceObserver','ReportingObserver'])"
        "window[k]=class{constructor(){throw new Error('mine')}};"
        "MutationObserver.prototype.observe=()=>{throw 1};MutationObserver.prototype.takeRecords=()=>null",
    ),
    usual(
        "errors_are_hostile",
        "Making an error's stack throws, errors cannot be made, and an error's message is an endless getter.",
        "Error.prepareStackTrace=()=>{throw 1};Error.stackTraceLimit=1e9;Error.captureStackTrace=()=>{throw 1};"
        "Object.defineProperty(Error.prototype,'message',{get(){for(;;);}});"
        "window.Error=window.TypeError=function(){throw {toString(){throw 1}}}",
    ),
    usual(
        "constructors_gone",
        "Node, Element, HTMLElement, HTMLInputElement, Event, Window and so on are undefined.",
        "for(const k of ['Node','Element','HTMLElement','HTMLInputElement','HTMLIFrameElement',"
        "'HTMLSelectElement','Event',"
        "'HTMLTextAreaElement','MouseEvent','Document','ShadowRoot','Window','NodeFilter','DOMRect',"
        "'Text','SVGElement'])"
        "window[k]=undefined",
    ),
    usual(
        "navigator_throws",
        "Reading window.navigator, performance or crypto throws.",
        "for(const k of ['navigator','performance','crypto','localStorage','history','customElements','indexedDB'])"
        "Object.defineProperty(window,k,{get(){throw new Error('mine '+k)}})",
    ),
    Trial(
        name="custom_element_denies_itself",
        family=FAMILY,
        says="The button is a custom element whose tagName, text, attributes, rectangle and parent all throw.",
        files={
            "/": page(
                LAMP + box("go", 100, 100, 200, 60, tag="x-button", text="Odd one", more="role=button tabindex=0"),
                "class X extends HTMLElement{};for(const k of ['tagName','localName','nodeName','id',"
                "'innerText','textContent',"
                "'attributes','parentElement','parentNode','offsetParent','isContentEditable','nodeType','shadowRoot'])"
                "Object.defineProperty(X.prototype,k,{get(){throw new Error('mine')}});"
                "for(const k of ['getAttribute','hasAttribute','closest','matches','getBoundingClientRect',"
                "'getRootNode',"
                "'contains','querySelector','getAttributeNames'])X.prototype[k]=()=>{throw new Error('mine')};"
                "customElements.define('x-button',X);document.getElementById('go').onclick=light",
            )
        },
        steps=(click(200, 130), press("Enter")),
        expects=(FeedbackSaysNone(DIED, after=(0, 1)), *lit()),
    ),
    Trial(
        name="only_trusted_input_counts",
        family=FAMILY,
        says="The page takes only input that comes from a real device: trusted, single, with matching down and up.",
        files={
            "/": page(
                BODY,
                "const go=document.getElementById('go'),f=document.getElementById('name');let down=0;"
                "go.onpointerdown=e=>{"
                "down=e.isTrusted&&e.pointerType==='mouse'&&e.button===0&&e.buttons===1?e.timeStamp:0};"
                "go.onclick=e=>{if(e.isTrusted&&e.detail===1&&down&&e.timeStamp>=down&&e.clientX===200"
                "&&e.clientY===130)light()};"
                "f.oninput=e=>{note('trusted',e.isTrusted)}",
            )
        },
        steps=(click(200, 130), click(250, 220), write("hi")),
        expects=(*lit(), noted("trusted", "true")),
    ),
    usual(
        "function_prototype_throws",
        "call, apply, bind and toString of every function throw.",
        "for(const k of ['call','apply','bind','toString'])Function.prototype[k]=()=>{throw new Error('mine')}",
    ),
    usual(
        "string_and_array_methods_throw",
        "Every method of strings, arrays, numbers and regular expressions throws.",
        "for(const c of [String,RegExp,Number,Array])for(const k of Object.getOwnPropertyNames(c.prototype))"
        "if(k!=='constructor'&&typeof c.prototype[k]==='function')c.prototype[k]=()=>{throw new TypeError('mine')}",
    ),
    usual(
        "builtins_hidden_by_let",
        "The page declares its own Object, Array, JSON, Math, Map, Set, Symbol, Error, Date and String with let.",
        "",
        early="let Object=1,Array=2,JSON='j',Math=null,Map=0,Set=0,WeakMap=0,Symbol='s',Error=0,Date=0,"
        "String=9,Number='n',"
        "Boolean=0,RegExp=0,Reflect=0,Proxy=0,parseInt=0,isNaN=0,URL=0,Node=0,Element=0,console=0",
    ),
    usual(
        "window_members_are_variables",
        "The page has its own variables named innerWidth, parent, self, frames, name, event, history and so on.",
        "",
        early="let innerWidth='wide',innerHeight={},devicePixelRatio=[],visualViewport=7,getComputedStyle=1,"
        "getSelection=2,"
        "requestIdleCallback=3,queueMicrotask=4,structuredClone=5,history=6,navigator=8,fetch=9,matchMedia=10;"
        "var parent=null,self=1,frames='f',opener={},name='n',status=3,event='e',origin='o',length='l',external=0",
    ),
    Trial(
        name="history_tampered",
        family=FAMILY,
        says="history.back and its kin throw and history.length is a lie; going back must work none the less.",
        files={
            "/": calm(),
            "/odd": page(
                "<p>Odd</p>",
                "for(const k of ['back','go','forward','pushState','replaceState'])History.prototype[k]=()=>{throw 1};"
                "Object.defineProperty(History.prototype,'length',{get:()=>-1})",
            ),
        },
        steps=(goto("@ORIGIN@/odd"), back()),
        expects=(UrlEnds("/"), *CALM),
    ),
    Trial(
        name="root_element_removed",
        family=FAMILY,
        says="A click removes the root element; the document is empty, without body.",
        files={"/": page(button("go", 100, 100, "Clear", "document.documentElement.remove()")), "/calm": calm()},
        steps=(click(200, 130), click(300, 300), write("x"), scroll(500, 400, 300), goto("@ORIGIN@/calm")),
        expects=(FeedbackSaysNone(DIED, after=(0, 1, 2, 3)), UrlEnds("/calm"), *CALM),
    ),
    Trial(
        name="root_element_becomes_svg",
        family=FAMILY,
        says="A click replaces the root element with an SVG root.",
        files={
            "/": page(
                button(
                    "go",
                    100,
                    100,
                    "Draw",
                    "const s=document.createElementNS('http://www.w3.org/2000/svg','svg');"
                    "s.setAttribute('width','1000');s.setAttribute('height','800');"
                    "document.documentElement.replaceWith(s)",
                )
            ),
            "/calm": calm(),
        },
        steps=(click(200, 130), click(300, 300), scroll(500, 400, 300), goto("@ORIGIN@/calm")),
        expects=(FeedbackSaysNone(DIED, after=(0, 1, 2)), UrlEnds("/calm"), *CALM),
    ),
    Trial(
        name="document_rewrites_itself",
        family=FAMILY,
        says="Soon after the load the page replaces itself by document.open and write, which drops all listeners.",
        files={
            "/": page(
                "<p>Old</p>",
                "setTimeout(async()=>{const t=await(await fetch('/inner')).text();"
                "document.open();document.write(t);document.close()},400)",
            ),
            "/inner": tampered(""),
        },
        steps=(wait(2), *STEPS),
        expects=(
            FeedbackSaysNone(DIED, after=(1, 2, 3, 4)),
            FeedbackSaysNone(NOTHING_MOVED, after=4),
            PixelNear(700, 400, GREEN),
            noted("lamp", "1"),
            noted("typed", "hello"),
            noted("moved", "1"),
        ),
    ),
    Trial(
        name="strict_policy_and_trusted_types",
        family=FAMILY,
        says="The content policy allows one script by nonce, no eval, no inline handlers, and demands trusted types.",
        files={
            "/": Response(
                body="<!doctype html><title>Strict</title><style>html,body{margin:0}</style>"
                + BODY
                + f"<script nonce=n1>{HANDLERS}</script>",
                headers=(
                    ("Content-Type", "text/html; charset=utf-8"),
                    (
                        "Content-Security-Policy",
                        "default-src 'none'; script-src 'nonce-n1'; style-src 'unsafe-inline'; "
                        "require-trusted-types-for 'script'; trusted-types 'none'; frame-ancestors 'none'; base-uri "
                        "'none'",
                    ),
                ),
            )
        },
        steps=STEPS,
        expects=WORKS,
    ),
    Trial(
        name="frames_denied",
        family=FAMILY,
        says="contentWindow and contentDocument of frames throw; the frame scrolls all the same.",
        files={
            "/": page(
                LAMP + box("f", 0, 0, 500, 800, "#fff", tag="iframe", more="src=/long"),
                "for(const k of ['contentWindow','contentDocument','src','srcdoc','name'])"
                "Object.defineProperty(HTMLIFrameElement.prototype,k,{get(){throw new Error('mine')}});"
                "Object.defineProperty(window,'frames',{get:()=>null});"
                "Object.defineProperty(window,'length',{get:()=>-5})",
            ),
            "/long": page(
                button("go", 100, 100, "In the frame", "tell('lamp',1)") + "<div style='height:4000px'></div>",
                "onscroll=()=>tell('moved',1);Object.defineProperty(window,'frameElement',{get(){throw 1}})",
            ),
        },
        steps=(click(200, 130), scroll(250, 500, 300), wait(1)),
        expects=(FeedbackSaysNone(NOTHING_MOVED, after=1), noted("moved", "1"), *lit()),
    ),
    usual(
        "clock_runs_backwards",
        "Date.now runs backwards, new Date is invalid, and event time stamps are not numbers.",
        "let t=0;Date.now=()=>(t-=1e6);window.Date=function(){return {getTime:()=>NaN}};window.Date.now=()=>NaN;"
        "Object.defineProperty(Event.prototype,'timeStamp',{get:()=>'noon'});"
        "Object.defineProperty(document,'timeline',{get:()=>({currentTime:null})})",
    ),
    usual(
        "always_loading_and_hidden",
        "document.readyState always says loading, document.hidden is true, and fonts are never ready.",
        "for(const [k,v] of Object.entries({readyState:'loading',hidden:true,"
        "visibilityState:'prerender',prerendering:true,"
        "fonts:{ready:new Promise(()=>{}),status:'loading'},getAnimations:()=>[{finished:new Promise(()=>{}),"
        "playState:'running',effect:{getComputedTiming:()=>({endTime:9e9})}}]}))"
        "Object.defineProperty(document,k,{get:()=>v});"
        "Object.defineProperty(HTMLImageElement.prototype,'complete',{get:()=>false})",
        more=(FeedbackSaysNone(("still loading", "not finished loading"), after=(0, 1, 2, 3)),),
    ),
    usual(
        "text_of_a_hundred_megabytes",
        "The button's innerText, textContent, title and ariaLabel are getters that make 100 million characters.",
        "for(const k of ['innerText','textContent','title','ariaLabel','outerHTML','innerHTML','value'])"
        "for(const n of ['go','name'])if(!(n==='name'&&k==='value'))"
        "Object.defineProperty(document.getElementById(n),k,{get:()=>'a'.repeat(100000000)})",
        more=(FeedbackAtMost(after=0), FeedbackAtMost(after=2)),
    ),
    Trial(
        name="names_are_not_text",
        family=FAMILY,
        says="Label, title and value hold lone surrogates, escape sequences, form feeds and a byte order mark.",
        files={
            "/": page(
                BODY,
                "const odd='Save \\ud83d\\u001b[31m \\udc00\\u000c\\u0007\\ufeff\\u0085\\u009b now';"
                "const go=document.getElementById('go');go.textContent=odd;go.setAttribute('aria-label',odd);"
                "go.onclick=light;document.title=odd;document.getElementById('name').value=odd;"
                "history.replaceState(null,'','/#'+encodeURIComponent('\\u202e')+'%FF%00')",
            )
        },
        # The implied checks (writable as UTF-8, no control characters) are the point.
        steps=(click(200, 130), click(250, 220), write("x")),
        expects=(FeedbackSaysNone(DIED, after=(0, 1, 2)), *lit()),
    ),
    Trial(
        name="names_of_the_prototype_chain",
        family=FAMILY,
        says="Ids, names and labels are __proto__, constructor, toString, {0}, %s and template marks.",
        files={
            "/": page(
                LAMP + "<button id=__proto__ name=constructor aria-label='{0} %s %(x)s {{7*7}} ${7*7} {x!r}' "
                "style='position:absolute;left:100px;top:100px;width:200px;height:60px' "
                "onclick=light()>toString</button>"
                "<input id=hasOwnProperty name=__proto__ aria-label='{} %d' "
                "style='position:absolute;left:100px;top:200px;width:300px;height:40px'>",
            )
        },
        steps=(click(200, 130), click(250, 220), write("{0} %s {{1}}")),
        expects=(
            FeedbackSaysNone((*DIED, " 49 "), after=(0, 1, 2)),
            PageState("document.querySelector('input').value", "{0} %s {{1}}"),
            *lit(),
        ),
    ),
    Trial(
        name="button_flees_into_a_frame",
        family=FAMILY,
        says="When pressed down, the button is moved into the document of a frame; it is never clicked.",
        files={
            "/": page(
                LAMP
                + box("f", 100, 500, 300, 200, "#eee", tag="iframe", more="srcdoc='<p>frame</p>'")
                + box("go", 100, 100, 200, 60, tag="button", text="Switch"),
                "const go=document.getElementById('go');go.onclick=light;"
                "go.onmousedown=()=>{document.getElementById('f').contentDocument.body.append(go);note('fled',1)}",
            )
        },
        steps=(click(200, 130), click(800, 100)),
        # The button left the document between down and up, so no click event reaches it.
        expects=(FeedbackSaysNone(DIED, after=0), noted("fled", "1"), not_noted("lamp")),
    ),
)
