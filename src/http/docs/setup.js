// Runs in the browser: starts Swagger UI on the page at /docs.

const dark = matchMedia('(prefers-color-scheme: dark)');
const applyColorScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
applyColorScheme();
dark.addEventListener('change', applyColorScheme);

/**
 * Searches all texts of an operation; Swagger UI itself searches only tags and paths. `taggedOperations` are
 * Immutable.js maps.
 */
function opsFilter(taggedOperations, phrase) {
  const words = phrase.toLowerCase().split(/\s+/);
  const matches = (operation, tag) => {
    const { method, path } = operation.toObject();
    const { operationId, summary, description } = operation.get('operation').toObject();
    const text = [tag, method, path, operationId, summary, description].join(' ').toLowerCase();
    return words.every((word) => text.includes(word));
  };
  return taggedOperations
    .map((group, tag) =>
      group.update('operations', (operations) => operations.filter((operation) => matches(operation, tag))),
    )
    .filter((group) => group.get('operations').size > 0);
}

const nothing = () => () => null;

if (globalThis.SwaggerUIBundle === undefined)
  document.querySelector('#reference').textContent =
    'In a clone, this page needs the development dependencies: run "npm ci --include=dev".';

globalThis.SwaggerUIBundle?.({
  url: '/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  filter: true,
  defaultModelsExpandDepth: 0,
  // Disables "Try it out": an API token does not belong in a browser.
  supportedSubmitMethods: [],
  validatorUrl: null,
  plugins: [
    () => ({
      fn: { opsFilter },
      wrapComponents: { authorizeBtn: nothing, authorizeOperationBtn: nothing, ServersContainer: nothing },
    }),
  ],
  onComplete: () => {
    const search = document.querySelector('.operation-filter-input');
    search?.setAttribute('placeholder', 'Search the operations');
    search?.setAttribute('aria-label', 'Search the operations');
  },
});
