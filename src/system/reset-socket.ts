import type { Socket } from 'node:net';

/** Resets the connection and discards what has not been sent. */
export function resetSocket(socket: Socket): void {
  try {
    // If both sides have ended, a reset would fail and Node would never close the socket, nor exit.
    if (socket.writable) socket.resetAndDestroy();
  } catch {
    // A Unix socket cannot be reset, and has no network behind it that could delay data.
  }
  socket.destroy();
}
