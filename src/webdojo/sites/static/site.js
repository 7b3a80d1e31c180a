// What pages made of blocks do by themselves: lists that grow, drawn calendars, boards. All of it is plain HTML first.

document.querySelectorAll('[data-calendar]').forEach(calendar);
document.querySelectorAll('[data-board]').forEach(board);
document.querySelectorAll('input[type=range] + output').forEach(slider);
growing(document.querySelector('[data-more]'));

// A list with more to come: its link fetches the next part into the same page when it comes into view or is clicked.
function growing(nav) {
  if (!nav) return;
  const link = nav.querySelector('a');
  let asked = false;
  const grow = async () => {
    if (asked) return;
    asked = true;
    const answer = await fetch(link.href);
    const next = new DOMParser().parseFromString(await answer.text(), 'text/html');
    const rows = '.results .items, .results tbody';
    const [here, there] = [document, next].map(page => [...page.querySelectorAll(rows)].pop());
    if (here && there) here.append(...there.children);
    history.replaceState(null, '', link.getAttribute('href'));
    const later = next.querySelector('[data-more]');
    if (later) nav.replaceWith(later); else nav.remove();
    growing(later);
  };
  link.addEventListener('click', event => { event.preventDefault(); grow(); });
  new IntersectionObserver(seen => seen.some(entry => entry.isIntersecting) && scrollY > 0 && grow()).observe(nav);
}

// A month of buttons under a field; `data-calendar` is the month that it opens with, as 2027-03.
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
    });
  });
}
