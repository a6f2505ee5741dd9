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
