// Works without: only shows secrets on demand, and confirms nothing that the server does not.
for (const secret of document.querySelectorAll('[data-secret]')) {
  const button = secret.querySelector('button');
  const input = secret.querySelector('input');
  button.hidden = false;
  button.addEventListener('click', () => {
    const isHidden = input.type === 'password';
    input.type = isHidden ? 'text' : 'password';
    button.textContent = isHidden ? 'Hide' : 'Show';
    button.setAttribute('aria-pressed', String(isHidden));
  });
}

// A token that is pasted into a search would be in the address of the page, and in the history of the browser.
for (const type of ['input', 'submit']) {
  document.addEventListener(
    type,
    (event) => {
      const form = event.target.closest('form[data-find-by-token]');
      if (!form || !/^\s*(?:ug[ta]_|eyJ[\w-]+\.eyJ)/.test(form.elements.search.value)) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      form.reset();
      location.assign(form.dataset.findByToken);
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
