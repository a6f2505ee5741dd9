/**
 * Frees the memory of bytes that are not used again. Otherwise V8 frees it only when it collects the small
 * object that refers to it, which it delays until a thread has 64 MB of such memory.
 */
export function freeBytes({ buffer, byteLength }: Buffer): void {
  // Small buffers share the memory of a pool.
  if (byteLength > 0 && byteLength === buffer.byteLength) (buffer as ArrayBuffer).transfer(0);
}
