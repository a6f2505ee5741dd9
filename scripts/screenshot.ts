// Takes docs/images/view-as.png, the picture of README.md: the page "View as" of a new demo, in Chromium, or
// in the executable that CHROMIUM names. Run it with `npm run screenshot` after the page has changed.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { launchBrowser } from '../test/support/browser.ts';

const PICTURE = 'docs/images/view-as.png';
const MAX_BYTES = 150 * 1024;
const VIEWPORT = { width: 1_280, height: 900 };
const PAGE_ADDRESS = /(http:\S+\/console\/\S*view-as\S*)/;

/** Starts the demo and returns the address of its page. */
async function startDemo(data: string): Promise<{ address: string; stop: () => Promise<void> }> {
  const args = ['bin/user-group-service.js', 'start', '--demo', '--data', data, '--port', '0'];
  const demo = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const exit = once(demo, 'exit');
  const stop = async () => {
    demo.kill();
    await exit;
  };
  for await (const line of createInterface(demo.stdout)) {
    const [address] = PAGE_ADDRESS.exec(line) ?? [];
    if (address !== undefined) return { address, stop };
  }
  throw new Error('the demo printed no address');
}

async function takePicture(address: string, token: string): Promise<void> {
  const browser = await launchBrowser();
  try {
    const page = await browser.newPage({ viewport: VIEWPORT, colorScheme: 'light' });
    await page.goto(new URL('/console/sign-in', address).href);
    await page.locator('input[type=password]').fill(token);
    await page.locator('main button[type=submit]').click();
    await page.waitForURL((url) => !url.pathname.endsWith('/sign-in'));
    await page.goto(address);
    await page.screenshot({ path: PICTURE });
  } finally {
    await browser.close();
  }
}

const data = mkdtempSync(join(tmpdir(), 'screenshot-'));
mkdirSync('docs/images', { recursive: true });
const demo = await startDemo(data);
try {
  await takePicture(demo.address, readFileSync(join(data, 'admin-token'), 'utf8').trim());
} finally {
  await demo.stop();
  rmSync(data, { recursive: true });
}
const { size } = statSync(PICTURE);
console.log(`${PICTURE}: ${size} bytes`);
if (size > MAX_BYTES) throw new Error(`${PICTURE} has more than ${MAX_BYTES} bytes`);
