// What pages made of blocks do by themselves: lists that grow, drawn calendars, boards, menus, editors, frames.

document.querySelectorAll('[data-calendar]').forEach(calendar);
document.querySelectorAll('[data-board]').forEach(board);
document.querySelectorAll('input[type=range] + output').forEach(slider);
document.querySelectorAll('[data-suggest]').forEach(suggestions);
document.querySelectorAll('[data-rich]').forEach(editor);
document.querySelectorAll('iframe').forEach(frame);
document.querySelectorAll('[data-late]').forEach(late);
growing(document.querySelector('[data-more]'));
document.addEventListener('submit', asking);
menus();
toast(sessionStorage.getItem('toast'));
if (parent !== window) tell();

// A list with more to come: its link fetches the next part into the same page when it comes into view or is clicked.
function growing(nav) {
  if (!nav) return;
  const link = nav.querySelector('a');
  let asked = false;
  const grow = async clicked => {
    if (asked) return;
    asked = true;
    let text;
    try {
      text = await (await fetch(link.href)).text();
    } catch {
      asked = false;
      if (clicked) location.assign(link.href);
      return;
    }
    const next = new DOMParser().parseFromString(text, 'text/html');
    const rows = '.results .items, .results tbody';
    const [here, there] = [document, next].map(page => [...page.querySelectorAll(rows)].pop());
    if (here && there) here.append(...there.children);
    history.replaceState(null, '', link.getAttribute('href'));
    const later = next.querySelector('[data-more]');
    if (later) nav.replaceWith(later); else nav.remove();
    growing(later);
  };
  link.addEventListener('click', event => { event.preventDefault(); grow(true); });
  new IntersectionObserver(seen => seen.some(entry => entry.isIntersecting) && scrollY > 0 && grow(false)).observe(nav);
}

// A month of buttons under a field; `data-calendar` is the month that it opens with, as 2027-03, and `data-weekdays`
// the heads of its columns, if it has any.
function calendar(input) {
  const [year, month] = (input.value || input.dataset.calendar).split('-').map(Number);
  const box = Object.assign(document.createElement('div'), {className: 'calendar', hidden: true});
  const button = (text, label, act) => {
    const made = Object.assign(document.createElement('button'), {type: 'button', textContent: text});
    made.setAttribute('aria-label', label);
    made.addEventListener('click', act);
    return made;
  };
  const two = number => String(number).padStart(2, '0');
  const draw = (y, m) => {
    const first = new Date(Date.UTC(y, m - 1, 1));
    const days = new Date(Date.UTC(y, m, 0)).getUTCDate();
    const title = first.toLocaleString('en-US', {month: 'long', year: 'numeric', timeZone: 'UTC'});
    const head = document.createElement('div');
    head.className = 'month';
    head.append(
      button('‹', 'Previous month', () => m > 1 ? draw(y, m - 1) : draw(y - 1, 12)),
      Object.assign(document.createElement('span'), {textContent: title}),
      button('›', 'Next month', () => m < 12 ? draw(y, m + 1) : draw(y + 1, 1)));
    const grid = document.createElement('div');
    grid.className = 'days';
    for (const name of input.dataset.weekdays?.split(' ') ?? [])
      grid.append(Object.assign(document.createElement('span'), {className: 'weekday', textContent: name}));
    for (let blank = 0; blank < (first.getUTCDay() + 6) % 7; blank++) grid.append(document.createElement('span'));
    for (let day = 1; day <= days; day++) {
      const iso = `${y}-${two(m)}-${two(day)}`;
      const made = button(day, `${day} ${title}`, () => { input.value = iso; box.hidden = true; });
      made.dataset.day = iso;
      grid.append(made);
    }
    box.dataset.month = `${y}-${two(m)}`;
    box.replaceChildren(head, grid);
  };
  draw(year, month);
  input.readOnly = true;
  input.after(box);
  input.addEventListener('click', () => { box.hidden = !box.hidden; });
}

// A slider says its value beside it.
function slider(shown) {
  const input = shown.previousElementSibling;
  input.addEventListener('input', () => { shown.value = input.value; });
}

// Cards that can be dragged to another column; the drop is sent as a form.
function board(place) {
  place.querySelectorAll('[data-card]').forEach(card => {
    card.draggable = true;
    card.addEventListener('dragstart', event => event.dataTransfer.setData('text/plain', card.dataset.card));
  });
  place.querySelectorAll('[data-column]').forEach(column => {
    column.addEventListener('dragover', event => event.preventDefault());
    column.addEventListener('drop', event => {
      event.preventDefault();
      const form = place.querySelector('form');
      form.elements.card.value = event.dataTransfer.getData('text/plain');
      form.elements.column.value = column.dataset.column;
      form.submit();
      sessionStorage.setItem('toast', `Moved to ${column.dataset.column}`);
    });
  });
}

// Before some forms are sent the browser asks: whether it is meant, or for a value.
function asking(event) {
  const {confirm: question} = event.target.dataset;
  if (question && !confirm(question)) return event.preventDefault();
  for (const field of event.target.querySelectorAll('[data-prompt]')) {
    const said = prompt(field.dataset.prompt, field.value);
    if (said === null) return event.preventDefault();
    field.value = said;
  }
}

// A field that offers those of its options that hold what was written.
function suggestions(input) {
  const list = input.nextElementSibling;
  const shown = () => [...list.children].filter(item => !item.hidden);
  const open = yes => {
    list.hidden = !yes;
    input.setAttribute('aria-expanded', yes);
  };
  const take = item => {
    input.value = item.textContent;
    open(false);
  };
  input.addEventListener('input', () => {
    const text = input.value.trim().toLowerCase();
    for (const item of list.children) item.hidden = !text || !item.textContent.toLowerCase().includes(text);
    open(shown().length > 0);
  });
  input.addEventListener('keydown', event => {
    if (event.key !== 'Enter' || list.hidden) return;
    event.preventDefault();
    take(shown()[0]);
  });
  input.addEventListener('blur', () => open(false));
  list.addEventListener('mousedown', event => {
    event.preventDefault();
    if (event.target.matches('li')) take(event.target);
  });
}

// Text that can be made bold or italic; its plain words are what is sent, and leaving it unsent is asked about.
function editor(place) {
  const box = place.parentElement;
  const leaving = event => event.preventDefault();
  place.addEventListener('input', () => {
    box.querySelector('input').value = place.innerText.trim();
    addEventListener('beforeunload', leaving);
  });
  place.closest('form').addEventListener('submit', () => removeEventListener('beforeunload', leaving));
  box.querySelectorAll('[data-mark]').forEach(button => {
    button.addEventListener('mousedown', event => event.preventDefault());
    button.addEventListener('click', () => document.execCommand(button.dataset.mark));
  });
}

// A frame shows a page of another site on the port of this one, or grows to what a page of this site needs.
function frame(place) {
  const {host, path, fits} = place.dataset;
  if (host) place.src = `//${host}${location.port && ':' + location.port}${path}`;
  if (fits !== undefined) return fit(place);
  const grow = () => {
    const inner = place.contentDocument?.documentElement;
    if (inner) place.style.height = `${inner.scrollHeight + 4}px`;
  };
  place.addEventListener('load', grow);
  grow();
}

// A frame that is as high as the page in it, which may be of another site and has to say its height itself.
function fit(place) {
  addEventListener('message', ({source, data}) => {
    if (source === place.contentWindow) place.style.height = `${data.height + 2}px`;
  });
  place.contentWindow.postMessage('height', '*');
}

// A page in a frame says how high it is, at once and whenever it is asked.
function tell() {
  const say = () => parent.postMessage({height: document.documentElement.offsetHeight}, '*');
  addEventListener('message', say);
  say();
}

// A part of a page that takes a while to be made.
function late(place) {
  setTimeout(async () => {
    const answer = await fetch(place.dataset.late);
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    place.replaceChildren(...page.querySelector('main').children);
    place.removeAttribute('aria-busy');
  }, 1000 * place.dataset.seconds);
}

// A right click on a thing in a list offers what can be done to it.
function menus() {
  let open = null;
  const close = () => {
    open?.remove();
    open = null;
  };
  const entry = ([text, action, question, values]) => {
    const form = Object.assign(document.createElement('form'), {method: 'post', action});
    if (question) form.dataset.confirm = question;
    for (const [name, value] of Object.entries(values))
      form.append(Object.assign(document.createElement('input'), {type: 'hidden', name, value}));
    form.append(Object.assign(document.createElement('button'), {textContent: text, role: 'menuitem'}));
    return form;
  };
  document.addEventListener('contextmenu', event => {
    close();
    const place = event.target.closest('[data-offers]');
    if (!place) return;
    event.preventDefault();
    open = Object.assign(document.createElement('div'), {className: 'context', role: 'menu'});
    const link = {href: place.querySelector('a').href, target: '_blank', textContent: 'Open in a new tab'};
    const entries = JSON.parse(place.dataset.offers).map(entry);
    open.append(Object.assign(document.createElement('a'), link, {role: 'menuitem'}), ...entries);
    document.body.append(open);
    open.style.left = `${Math.min(event.clientX, innerWidth - open.offsetWidth)}px`;
    open.style.top = `${Math.min(event.clientY, innerHeight - open.offsetHeight)}px`;
  });
  addEventListener('pointerdown', event => open?.contains(event.target) || close());
  addEventListener('keydown', event => event.key === 'Escape' && close());
  addEventListener('scroll', close);
}

// Says for a moment what was done.
function toast(text) {
  if (!text) return;
  sessionStorage.removeItem('toast');
  const made = Object.assign(document.createElement('p'), {className: 'toast', role: 'status', textContent: text});
  document.body.append(made);
  setTimeout(() => made.remove(), 4000);
}
