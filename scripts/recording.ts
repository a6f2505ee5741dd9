// Records docs/images/first-minute.svg, the animation of README.md: a real `npm start` in a pseudo terminal
// of script(1), and calls of README.md with curl. Run it with `npm run recording` after their output has
// changed. Deletes the database, and shortens the tokens in the picture.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const PICTURE = 'docs/images/first-minute.svg';
const MAX_BYTES = 100 * 1024;
const SECONDS = 20;
const COLUMNS = 122;
const LINE_PX = 18;
const CHARACTER_PX = 7.8;
const PADDING_PX = 16;
/** Calls of README.md, by the start of their commands. */
const CALLS = ['curl -X GET http://127.0.0.1:8080/api/user', 'curl -X PUT http://127.0.0.1:8080/api/user'];

interface Line {
  text: string;
  kind: 'command' | 'output';
}

/** Runs a command in a pseudo terminal. */
function inTerminal(command: string, cwd: string, onText: (text: string) => void): ChildProcess {
  const args = [
    '--quiet',
    '--return',
    '--flush',
    '--command',
    `stty cols ${COLUMNS}; ${command}`,
    '/dev/null',
  ];
  const child = spawn('script', args, { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
  child.stdout.setEncoding('utf8').on('data', onText);
  return child;
}

function commandLines(command: string): Line[] {
  return command
    .split('\n')
    .map((text, index) => ({ text: index === 0 ? `$ ${text}` : text, kind: 'command' }));
}

function outputLines(text: string): Line[] {
  // The terminal ends lines with both characters, and npm prints no colours here.
  const lines = text.trim().split(/\r*\n/);
  return lines.map((line) => ({ text: cutTokens(line), kind: 'output' }));
}

function cutTokens(text: string): string {
  return text.replace(/\b(ug[at]_\w{6})\w+/g, '$1…');
}

function wrapped({ text, kind }: Line): Line[] {
  const parts = text.match(new RegExp(`.{1,${COLUMNS}}`, 'gu')) ?? [''];
  return parts.map((part) => ({ text: part, kind }));
}

function readCalls(): string[] {
  const blocks = readFileSync('README.md', 'utf8').matchAll(/^```sh\n([\s\S]*?)^```$/gm);
  const commands = Array.from(blocks, ([, block]) => block!.trim());
  return CALLS.map((start) => commands.find((command) => command.startsWith(start))!);
}

async function record(folder: string): Promise<Line[]> {
  for (const name of ['package.json', 'bin', 'src', 'node_modules'])
    symlinkSync(resolve(name), join(folder, name));
  let started = '';
  const service = inTerminal('exec npm start', folder, (text) => {
    started += text;
  });
  try {
    while (!started.includes('Press Ctrl-C')) {
      if (service.exitCode !== null) throw new Error(`npm start failed: ${started}`);
      await sleep(100);
    }
    const lines = [...commandLines('npm start'), ...outputLines(started)];
    const token = 'TOKEN=$(cat data/api-token)';
    lines.push(...commandLines(token));
    for (const call of readCalls()) {
      let output = '';
      const child = inTerminal(`${token}; ${call.replace('curl', 'curl -sS')}`, folder, (text) => {
        output += text;
      });
      await once(child, 'close');
      lines.push(...commandLines(call), ...outputLines(output));
    }
    return lines.flatMap(wrapped);
  } finally {
    service.kill();
    await once(service, 'close');
  }
}

/** Draws the texts of the run at an even pace. Without animation, every line is visible. */
function picture(lines: readonly Line[]): string {
  const width = Math.ceil(COLUMNS * CHARACTER_PX) + 2 * PADDING_PX;
  const height = lines.length * LINE_PX + 2 * PADDING_PX;
  // A command takes longer to read than its output takes to appear.
  const weights = lines.map(({ kind }) => (kind === 'command' ? 4 : 1));
  const total = weights.reduce((sum, each) => sum + each, 0);
  let passed = 0;
  const texts = lines.map(({ text, kind }, index) => {
    const delay = ((passed / total) * (SECONDS - 2)).toFixed(2);
    passed += weights[index]!;
    const y = PADDING_PX + (index + 0.75) * LINE_PX;
    return `<text class="${kind}" x="${PADDING_PX}" y="${y}" style="animation-delay:${delay}s">${escaped(text)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>npm start, and the first two calls of the API with curl</title>
<style>
rect { fill: #f6f8fa; stroke: #d0d7de }
text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre; animation: show 0.2s backwards }
.command { fill: #0550ae; font-weight: 600 }
.output { fill: #1f2328 }
@keyframes show { from { opacity: 0 } }
@media (prefers-color-scheme: dark) {
  rect { fill: #0d1117; stroke: #30363d }
  .command { fill: #79c0ff }
  .output { fill: #e6edf3 }
}
@media (prefers-reduced-motion: reduce) { text { animation: none } }
</style>
<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
${texts.join('\n')}
</svg>
`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

const folder = mkdtempSync(join(tmpdir(), 'recording-'));
try {
  const svg = picture(await record(folder));
  if (svg.length > MAX_BYTES) throw new Error(`${PICTURE} has more than ${MAX_BYTES} bytes`);
  writeFileSync(PICTURE, svg);
  console.log(`${PICTURE}: ${svg.length} bytes`);
} finally {
  rmSync(folder, { recursive: true });
}
