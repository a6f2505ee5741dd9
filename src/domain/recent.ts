// What was worked out lately, for who asks again soon.

const LOOKED_AT = 4;

/**
 * Values of texts, at most `slots`. Each text has its slot, where the last one that came stays: a `Map` that drops its
 * oldest entry skips a growing row of holes every time, and hashes every text whole.
 */
export class Recent<Value> {
  readonly #slots: ({ text: string; value: Value } | undefined)[];

  constructor(slots: number) {
    this.#slots = new Array<undefined>(slots);
  }

  get(text: string): Value | undefined {
    const found = this.#slots[this.#slotOf(text)];
    return found?.text === text ? found.value : undefined;
  }

  add(text: string, value: Value): void {
    this.#slots[this.#slotOf(text)] = { text, value };
  }

  delete(text: string): void {
    if (this.get(text) !== undefined) this.#slots[this.#slotOf(text)] = undefined;
  }

  /** By the end of the text: digests differ there. */
  #slotOf(text: string): number {
    let hash = text.length;
    for (let place = Math.max(0, text.length - LOOKED_AT); place < text.length; place++) {
      hash = hash * 64 + text.charCodeAt(place);
    }
    return hash % this.#slots.length;
  }
}
