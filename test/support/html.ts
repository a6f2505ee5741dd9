// Reads the HTML of the console strictly: text that is not escaped fails the test instead of being mistaken
// for markup.

import assert from 'node:assert/strict';

export interface Element {
  name: string;
  attributes: Readonly<Record<string, string>>;
  /** Text without markup. */
  text: string;
}

const DOCTYPE = '<!doctype html>';
const TOKEN = /<(\/?)([a-z][a-z0-9]*)((?:\s+[a-zA-Z-]+(?:="[^"<>]*"|='[^'<>]*')?)*)\s*(\/?)>|[^<>]+/y;
const ATTRIBUTE = /([a-zA-Z-]+)(?:=(?:"([^"]*)"|'([^']*)'))?/g;
const REFERENCE = /&(?:#(\d+);)?/g;
const VOID = new Set(['meta', 'link', 'input', 'br', 'hr']);

/** Returns all elements of a document in order. */
export function elementsOf(document: string): Element[] {
  assert(document.startsWith(DOCTYPE), document.slice(0, 200));
  const elements: Element[] = [];
  const open: Element[] = [];
  TOKEN.lastIndex = DOCTYPE.length;
  while (TOKEN.lastIndex < document.length) {
    const at = TOKEN.lastIndex;
    const token = TOKEN.exec(document);
    assert(token !== null, `not escaped, or not known: ${document.slice(at, at + 200)}`);
    const [text, slash, name, , selfClosing] = token;
    if (name === undefined) {
      for (const element of open) element.text += decoded(text);
    } else if (slash === '/') {
      assert.equal(open.pop()?.name, name, `closed in the wrong order: ${document.slice(0, at).slice(-200)}`);
    } else {
      const element = { name, attributes: attributesOf(token[3]!), text: '' };
      elements.push(element);
      if (!VOID.has(name) && selfClosing !== '/') open.push(element);
    }
  }
  assert.deepEqual(open, []);
  return elements;
}

/** Returns the text of the first element with this name. */
export function textOfElement(document: string, name: string): string {
  const found = elementsOf(document).find((element) => element.name === name);
  assert(found !== undefined, `no element ${name}`);
  return found.text;
}

function attributesOf(text: string): Record<string, string> {
  const attributes = [...text.matchAll(ATTRIBUTE)].map(
    ([, name, double, single]) => [name!, decoded(double ?? single ?? '')] as const,
  );
  const names = attributes.map(([name]) => name);
  assert.equal(new Set(names).size, names.length, `duplicate attribute: ${text}`);
  return Object.fromEntries(attributes);
}

/** Decodes references, which ghtml writes by number. */
function decoded(text: string): string {
  return text.replace(REFERENCE, (reference, code?: string) => {
    assert(code !== undefined, `not escaped: ${reference} in ${text.slice(0, 200)}`);
    return String.fromCodePoint(Number(code));
  });
}
