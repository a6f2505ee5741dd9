// Runs Chromium, if it is installed. CHROMIUM is the path of another executable.

import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type axe from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright-core';

/** Executables of Debian. The headless shell needs half the processor time. */
const INSTALLED = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];
const EXECUTABLE = process.env.CHROMIUM ?? INSTALLED.find(existsSync) ?? INSTALLED[0]!;
const FLAGS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync'],
  ...['--disable-background-networking', '--disable-component-update'],
];

/** Reason why tests in a browser are skipped; false if they run. */
export const skipsBrowser: string | false = existsSync(EXECUTABLE)
  ? false
  : `needs Chromium at ${EXECUTABLE}, or at the path in CHROMIUM`;

export function launchBrowser(flags: readonly string[] = []): Promise<Browser> {
  return chromium.launch({ executablePath: EXECUTABLE, args: [...FLAGS, ...flags] });
}

/** Minified, because every page of a test loads it and so parses half as much. */
const AXE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/** Rules of axe that depend on the colour scheme of a page. */
export const COLOUR_RULES: readonly string[] = ['color-contrast', 'link-in-text-block'];

/**
 * Returns the accessibility violations of a page and its frames, also of rules that axe does not apply by
 * default. `rules` selects rules.
 */
export async function violationsOf(page: Page, rules?: readonly string[]): Promise<axe.Result[]> {
  // Evaluates the script, because the pages forbid scripts that are added to them.
  for (const frame of page.frames())
    if (!(await frame.evaluate("'axe' in globalThis"))) await frame.evaluate(AXE);
  return page.evaluate(
    (values) =>
      (globalThis as unknown as { axe: typeof axe }).axe
        .run({
          resultTypes: ['violations'],
          ...(values
            ? { runOnly: { type: 'rule' as const, values } }
            : {
                rules: { 'label-content-name-mismatch': { enabled: true }, 'target-size': { enabled: true } },
              }),
        })
        .then(({ violations }) => violations),
    rules as string[] | undefined,
  );
}

export const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
export const DESKTOP = { viewport: { width: 1_280, height: 800 } };
