// Texts that are markup, script, or an escape from either if a page does not escape them.

export const markup: readonly string[] = [
  '<script>alert(1)</script>',
  '</script><script>alert(1)</script>',
  '<ScRiPt/src=//x.example>',
  '<img src=x onerror=alert(1)>',
  '<svg/onload=alert(1)>',
  '<svg><animate onbegin=alert(1) attributeName=x></svg>',
  '<iframe srcdoc="<script>alert(1)</script>">',
  '<a href="javascript:alert(1)">x</a>',
  '<body onload=alert(1)>',
  '<style>*{display:none}</style>',
  '<base href="https://x.example/">',
  '<meta http-equiv="refresh" content="0;url=https://x.example">',
  '<form action="https://x.example"><input name="csrf">',
  '</form><form action="/console/user-groups/x/delete">',
  '</textarea><script>alert(1)</script>',
  '</title><script>alert(1)</script>',
  '</select><option selected>',
  '</code></pre></td></tr></table>',
  '<input type="hidden" name="version" value="1-1">',
  '<div hx-get="/console/sign-out" hx-trigger="load">',
  '"><script>alert(1)</script>',
  "'><script>alert(1)</script>",
  '" onmouseover="alert(1)',
  "' onmouseover='alert(1)",
  '" autofocus onfocus=alert(1) x="',
  '" formaction="https://x.example',
  '`onclick=alert(1)`',
  'x onclick=alert(1)',
  '\\"><img src=x onerror=alert(1)>',
  '\\u003cscript\\u003ealert(1)\\u003c/script\\u003e',
  '\\x3cscript\\x3ealert(1)\\x3c/script\\x3e',
  '&lt;script&gt;alert(1)&lt;/script&gt;',
  '&#60;script&#62;',
  '&#x3c;script&#x3e;',
  '&quot;&apos;&amp;&nbsp;&copy',
  '%3Cscript%3Ealert(1)%3C/script%3E',
  '<!-- x',
  'x -->',
  '<![CDATA[x]]>',
  '<?xml version="1.0"?><x/>',
  '<!doctype html>',
  '<',
  '>',
  '<>',
  '&',
  '"',
  "'",
  '=',
  '<<script>alert(1);//<</script>',
  '<script\u00a0x>',
  '<\u2028script>',
  '＜script＞alert(1)＜/script＞',
  '\u202e<tpircs>',
  '<scr\u200bipt>alert(1)</scr\u200bipt>',
  'javascript:alert(1)',
  'JaVaScRiPt:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  '!$'.concat('{alert(1)}'),
  '{{constructor.constructor("alert(1)")()}}',
  '<%= 7*7 %>',
];

/** Ids that become part of a URL, or of a path of the console, unless they are encoded. */
export const pathLike: readonly string[] = [
  '-',
  'new',
  '-/new',
  '-/find-by-token',
  'edit',
  'x/edit',
  'events',
  'constructor',
  '../sign-out',
  'a/../b',
  '%2e%2e',
  '%2F',
  '?done=deleted',
  '#main',
  '//x.example/',
  'https://x.example/',
  'a;b=c',
  'a+b c',
];

/** Maximum length of an id, with room for more. */
const MAX_LENGTH = 250;

/** Joins the texts into as few ids as possible. */
export function joined(texts: readonly string[]): string[] {
  const all: string[] = [''];
  for (const text of texts) {
    const next = `${all.at(-1)} ${text}`.trim();
    if ([...next].length <= MAX_LENGTH) all[all.length - 1] = next;
    else all.push(text);
  }
  return all;
}
