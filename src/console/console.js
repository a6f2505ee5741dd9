// Improves pages that work without it: shows and copies texts on demand, and keeps tokens out of addresses.
for (const secret of document.querySelectorAll('[data-secret]')) {
  const button = secret.querySelector('button:not([data-copy])');
  const input = secret.querySelector('input');
  button.hidden = false;
  button.addEventListener('click', () => {
    const isHidden = input.type === 'password';
    input.type = isHidden ? 'text' : 'password';
    button.textContent = isHidden ? 'Hide' : 'Show';
  });
}

const announcement = document.createElement('p');
announcement.className = 'hidden';
announcement.ariaLive = 'polite';
document.querySelector('main').append(announcement);

// Browsers give access to the clipboard only over HTTPS and on the same machine.
function showCopyButtons() {
  if (!navigator.clipboard) return;
  for (const button of document.querySelectorAll('[data-copy]')) button.hidden = false;
}
showCopyButtons();
document.addEventListener('htmx:after:swap', showCopyButtons);
document.addEventListener('click', async ({ target }) => {
  const button = target.closest('[data-copy]');
  if (!button) return;
  await navigator.clipboard.writeText(button.dataset.copy);
  button.classList.add('copied');
  announcement.textContent = 'Copied';
  setTimeout(() => {
    button.classList.remove('copied');
    announcement.textContent = '';
  }, 2_000);
});

// Checks all rows of the page, or none if all are checked.
function showCheckAll() {
  const button = document.getElementById('check-all');
  if (!button) return;
  const boxes = rowBoxes();
  button.hidden = boxes.length === 0;
  button.textContent = boxes.every(({ checked }) => checked) ? 'Uncheck all' : 'Check all';
}
function rowBoxes() {
  return [...document.querySelectorAll('#rows input[type="checkbox"]')];
}
showCheckAll();
document.addEventListener('htmx:after:swap', showCheckAll);
document.addEventListener('change', showCheckAll);
document.addEventListener('click', ({ target }) => {
  if (target.id !== 'check-all') return;
  const boxes = rowBoxes();
  const isChecked = !boxes.every(({ checked }) => checked);
  for (const box of boxes) box.checked = isChecked;
  showCheckAll();
  announcement.textContent = isChecked ? `${boxes.length} checked` : 'None checked';
});

// Makes "back" open the address of an action instead of asking whether to send its form again. A page that is
// the response to a form is at that address.
function forgetSentForm() {
  history.replaceState(history.state, '');
}

// The second click of a double click would send the form again, and its response would hide that of the first one.
const SAME_CLICK_MS = 2_000;
let sentAt = Number.NEGATIVE_INFINITY;
document.addEventListener('submit', (event) => {
  if (event.target.method !== 'post') return;
  if (event.timeStamp - sentAt < SAME_CLICK_MS) return event.preventDefault();
  sentAt = event.timeStamp;
  forgetSentForm();
});
// Ignores links that open another tab: they leave this page as it is.
document.addEventListener('click', ({ target, ctrlKey, metaKey, shiftKey }) => {
  if (!ctrlKey && !metaKey && !shiftKey && target.closest('a[href^="/"]')) forgetSentForm();
});
// Allows sending again: a browser may show the same page when a person goes back.
addEventListener('pageshow', () => {
  sentAt = Number.NEGATIVE_INFINITY;
});

// Makes the links of an error summary lead to the field instead of the error beside it.
document.addEventListener('click', (event) => {
  const link = event.target.closest('.summary a[href^="#"]');
  const error = link && document.getElementById(link.hash.slice(1));
  const control = error
    ?.closest('.field, fieldset')
    ?.querySelector('input:not([type="hidden"]), select, textarea');
  if (!control) return;
  event.preventDefault();
  control.focus();
});

// Ctrl-K or Command-K focuses the search or the first filter of the page, as in other tools. A key without a
// modifier would be pressed by speech input (WCAG 2.1.4).
document.addEventListener('keydown', (event) => {
  if (!/^k$/i.test(event.key) || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
  const control = document.querySelector('form[role="search"] :is(input:not([type="hidden"]), select)');
  if (!control) return;
  event.preventDefault();
  control.focus();
});

// Keeps a token that is pasted into a filter out of the address of the page and the history of the browser.
// Same pattern as in browser.ts.
const TOKEN = /ug[ta]_[0-9A-Za-z]{16}|\.(?<=eyJ[\w-]{8,}\.)eyJ[\w-]{8,}\./;
for (const type of ['input', 'submit']) {
  document.addEventListener(
    type,
    (event) => {
      const form = event.target.closest('form[method="get"]');
      if (!form || ![...new FormData(form).values()].some((text) => TOKEN.test(text))) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      for (const input of form.querySelectorAll('input')) if (TOKEN.test(input.value)) input.value = '';
      location.assign('/console/user-groups/-/find-by-token#token');
    },
    { capture: true },
  );
}

// While a search continues by itself, a button stops it; otherwise the link "Continue searching" continues it.
function showStop(isSearching) {
  const stop = document.getElementById('search-stop');
  if (!stop) return;
  // Keeps the focus in its place: a hidden button loses it.
  if (!isSearching && stop === document.activeElement) stop.parentElement.focus();
  stop.hidden = !isSearching;
}

// Otherwise screen readers would have heard last that it searches. The overview sends requests without a search.
function showStopped() {
  showStop(false);
  document.getElementById('search-status')?.replaceChildren('The search has stopped');
}

document.addEventListener('htmx:before:request', ({ target }) => {
  if (target.id !== 'search-on') return;
  const isFocused = target === document.activeElement;
  showStop(true);
  // The link is hidden now.
  if (isFocused) document.getElementById('search-stop').focus();
});

document.addEventListener('htmx:finally:request', () => {
  if (document.getElementById('search-on') === null) showStop(false);
});

// Another tab may have switched to another workspace or environment, whose rows do not belong below this
// header.
document.addEventListener('htmx:after:request', (event) => {
  const { ctx } = event.detail;
  const place = new DOMParser().parseFromString(ctx.text, 'text/html').querySelector('.place');
  if (place === null || place.textContent === document.querySelector('.place').textContent) return;
  event.preventDefault();
  if (event.target.matches('form.search')) location.assign(ctx.request.action);
  else location.reload();
});

// Firefox fails the requests of a page when a link is clicked. Opening a search then would replace that page.
// A link to a file leaves the page as it is.
let isLeaving = false;
addEventListener('beforeunload', () => {
  isLeaving = true;
});
document.addEventListener('htmx:before:request', () => {
  isLeaving = false;
});

// Opens the address of a failed search, so that the browser shows the response of a proxy, or why there is
// none, instead of a list that does not match the search. A step of a search that gets no response keeps its
// link.
for (const type of ['htmx:response:error', 'htmx:error'])
  document.addEventListener(type, ({ target, detail }) => {
    if (isLeaving) return;
    showStopped();
    if (type === 'htmx:response:error' || target.matches('form.search'))
      location.assign(detail.ctx.request.action);
  });

document.addEventListener('click', ({ target }) => {
  if (target.id !== 'search-stop') return;
  const on = document.getElementById('search-on');
  // An element receives it only after it has sent a request: the form may have sent none.
  on?.dispatchEvent(new CustomEvent('htmx:abort'));
  showStopped();
  on?.focus();
});

// Shows times in the local time zone, which they name. The tooltip has the time in UTC; a button shows it as
// text to copy, on every page until it is pressed again. The words are English like the page, in the variant
// that the person prefers.
const ENGLISH = navigator.languages.find((language) => /^en\b/.test(language)) ?? 'en';
const ZONED = new Intl.DateTimeFormat(ENGLISH, {
  ...{ year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' },
  ...{ hourCycle: 'h23', timeZoneName: 'short' },
});
const RELATIVE = new Intl.RelativeTimeFormat(ENGLISH, { numeric: 'auto' });
const UNITS = { year: 31_536_000, month: 2_592_000, day: 86_400, hour: 3_600, minute: 60, second: 1 };
const CHOICE = 'times';
let isUtc = localStorage.getItem(CHOICE) === 'UTC';

function localText(date) {
  const parts = Object.fromEntries(ZONED.formatToParts(date).map(({ type, value }) => [type, value]));
  return `${parts.year}-${parts.month}-${parts.day} ${parts.hour}:${parts.minute} ${parts.timeZoneName}`;
}

function relativeText(date) {
  const seconds = (date - Date.now()) / 1_000;
  const [unit, size] = Object.entries(UNITS).find(([, each]) => Math.abs(seconds) >= each) ?? ['second', 1];
  return RELATIVE.format(Math.round(seconds / size), unit);
}

function showTimes() {
  const times = document.querySelectorAll('time[datetime*="T"]');
  for (const time of times) {
    const date = new Date(time.dateTime);
    time.dataset.utc ??= time.textContent;
    time.textContent = isUtc ? time.dataset.utc : localText(date);
    time.title = `${relativeText(date)}, ${time.dateTime}`;
  }
  timesButton.textContent = isUtc ? 'Show local times' : 'Show times in UTC';
  if (times.length > 0 && !timesButton.isConnected) document.querySelector('main').append(timesButton);
}

const timesButton = document.createElement('button');
timesButton.type = 'button';
timesButton.dataset.times = '';
timesButton.addEventListener('click', () => {
  isUtc = !isUtc;
  localStorage.setItem(CHOICE, isUtc ? 'UTC' : 'local');
  showTimes();
});
showTimes();
document.addEventListener('htmx:after:swap', showTimes);
