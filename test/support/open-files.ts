import { readdirSync, readlinkSync } from 'node:fs';

interface OpenFile {
  /** Path in /proc. */
  path: string;
  /** Path of the file, or such as `socket:[4242]`. */
  target: string;
}

/** Returns the files that a process has open, without those that it closes meanwhile. */
export function openFiles(pid: number | string): OpenFile[] {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).flatMap((name) => {
    const path = `${folder}/${name}`;
    try {
      return { path, target: readlinkSync(path) };
    } catch {
      return []; // closed in the meantime
    }
  });
}
