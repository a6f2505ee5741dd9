// Chromium, if it is installed. CHROMIUM is the path of another executable.

import { existsSync } from 'node:fs';

export const executable = process.env.CHROMIUM ?? '/usr/bin/chromium';
export const FLAGS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync'],
  ...['--disable-background-networking', '--disable-component-update'],
];
export const withoutBrowser = existsSync(executable)
  ? false
  : `needs Chromium at ${executable}, or at the path in CHROMIUM`;
