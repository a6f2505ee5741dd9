// Chromium, if it is installed. CHROMIUM is the path of another executable.

import { existsSync } from 'node:fs';
import { AxeBuilder } from '@axe-core/playwright';
import { type Browser, chromium, type Page } from 'playwright-core';

const EXECUTABLE = process.env.CHROMIUM ?? '/usr/bin/chromium';
const FLAGS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync'],
  ...['--disable-background-networking', '--disable-component-update'],
];

/** Why tests in a browser are skipped; false if they are not. */
export const skipsBrowser: string | false = existsSync(EXECUTABLE)
  ? false
  : `needs Chromium at ${EXECUTABLE}, or at the path in CHROMIUM`;

export function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: EXECUTABLE, args: FLAGS });
}

type Violations = Awaited<ReturnType<AxeBuilder['analyze']>>['violations'];

/** The accessibility violations of a page without frames of other origins. */
export async function violationsOf(page: Page): Promise<Violations> {
  // Three times as fast as the defaults, which open another page for the results, and describe what passes.
  const axe = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ['violations'] });
  return (await axe.analyze()).violations;
}

export const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
export const DESKTOP = { viewport: { width: 1_280, height: 800 } };
