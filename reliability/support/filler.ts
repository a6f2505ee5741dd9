/** Returns as many comma-separated texts as fit into the size. */
export function fill(bytes: number, textOf: (index: number) => string): string {
  const texts: string[] = [];
  for (let [size, index] = [0, 0]; ; index++) {
    const text = textOf(index);
    size += text.length + 1;
    if (size > bytes + 1) return texts.join(',');
    texts.push(text);
  }
}
