// Finds credentials in the attributes of data sources, which everyone who may resolve can read. Guards
// against mistakes: members that are named like credentials, and texts that contain one. All patterns take
// linear time.

/** The place of a credential. `detail` does not contain it. */
interface FoundCredential {
  path: readonly (string | number)[];
  detail: string;
}

/** Names of credentials, but not of places that keep one, such as `secret_name`. */
const NAME =
  /^(?:.*(?:password|passwd|passphrase)|(?:.*[_-])?(?:pass|pwd|secret|credentials?|private[_-]?key|api[_-]?key|access[_-]?key|token|connection[_-]?string|dsn))$/;

const TEXTS: readonly RegExp[] = [
  // scheme://user:password@host
  /:\/\/[^\s/?#@:]*:[^\s/?#@]+@/,
  // user:password@tcp(host), of MySQL in Go
  /:[^\s:@]+@(?:tcp|unix)\(/i,
  // jdbc:oracle:thin:user/password@host
  /jdbc:oracle:\w+:[^\s/@:]+\/[^\s/@]+@/i,
  // password=…, Pwd=…; and "password": "…", but not a placeholder such as ${PASSWORD}
  /(?:\bpass|password|passwd|passphrase|pwd|secret|token|(?:account|access|api|private)[_-]?key)(?:["']?\s*=|["']\s*:)\s*(?!\$\{|\{\{|[\s;&]|$)/i,
  /-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----/,
];

const ENCODED = /%([0-9a-f]{2})/gi;
/** An encoded URL may be a parameter of a URL that is encoded again. */
const MAX_DECODINGS = 3;

/** Returns null if there is none. */
export function findCredential(
  value: unknown,
  path: readonly (string | number)[] = [],
): FoundCredential | null {
  if (typeof value === 'string') return isCredential(value) ? inText(path) : null;
  if (typeof value !== 'object' || value === null) return null;
  const entries: Iterable<[string | number, unknown]> = Array.isArray(value)
    ? value.entries()
    : Object.entries(value);
  for (const [key, member] of entries) {
    const found = inKey(key, path) ?? findCredential(member, [...path, key]);
    if (found !== null) return found;
  }
  return null;
}

function inKey(key: string | number, path: FoundCredential['path']): FoundCredential | null {
  if (typeof key === 'number') return null;
  // The path of the key would repeat the credential.
  if (isCredential(key)) return inText(path);
  if (!NAME.test(snakeCase(key))) return null;
  return { path: [...path, key], detail: 'is named like a credential' };
}

function inText(path: FoundCredential['path']): FoundCredential {
  return { path, detail: 'contains a password, a token or a private key' };
}

function isCredential(text: string): boolean {
  let decoded = text;
  for (let count = 0; count <= MAX_DECODINGS; count++) {
    if (TEXTS.some((pattern) => pattern.test(decoded))) return true;
    decoded = decoded.replace(ENCODED, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  }
  return false;
}

function snakeCase(text: string): string {
  return text.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase();
}
