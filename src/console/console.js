// Works without: shows and copies texts on demand, and keeps tokens out of addresses.
for (const secret of document.querySelectorAll('[data-secret]')) {
  const button = secret.querySelector('[aria-pressed]');
  const input = secret.querySelector('input');
  button.hidden = false;
  button.addEventListener('click', () => {
    const isHidden = input.type === 'password';
    input.type = isHidden ? 'text' : 'password';
    button.textContent = isHidden ? 'Hide' : 'Show';
    button.setAttribute('aria-pressed', String(isHidden));
  });
}

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
  setTimeout(() => button.classList.remove('copied'), 2_000);
});

// A link of the summary of errors leads to the error; the person wants the field.
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

// A token that is pasted into a search would be in the address of the page, and in the history of the browser.
const TOKEN = /^\s*(?:ug[ta]_|eyJ[\w-]+\.eyJ)/;
for (const type of ['input', 'submit']) {
  document.addEventListener(
    type,
    (event) => {
      const form = event.target.closest('form[method="get"]');
      if (!form || ![...new FormData(form).values()].some((text) => TOKEN.test(text))) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      for (const input of form.querySelectorAll('input')) if (TOKEN.test(input.value)) input.value = '';
      location.assign('/console/user-groups/-/find-by-token');
    },
    { capture: true },
  );
}

// While a search goes on by itself, a button stops it; otherwise the link "Search on" is there.
function showStop(isSearching) {
  const stop = document.getElementById('search-stop');
  if (stop) stop.hidden = !isSearching;
}

document.addEventListener('htmx:before:request', ({ target }) => {
  if (target.id === 'search-on') showStop(true);
});

document.addEventListener('htmx:finally:request', () => {
  if (document.getElementById('search-on') === null) showStop(false);
});

for (const type of ['htmx:response:error', 'htmx:error'])
  document.addEventListener(type, () => showStop(false));

document.addEventListener('click', ({ target }) => {
  if (target.id !== 'search-stop') return;
  document.querySelector('form.search').dispatchEvent(new CustomEvent('htmx:abort'));
  showStop(false);
  document.getElementById('search-on')?.focus();
});
