/** Characters without a shape, or with an effect on the text around: controls, direction marks, zero-width characters. */
const hidden = /[\p{Cc}\p{Cf}\u2028\u2029\u115F\u1160\u3164\uFFA0]/gu;

/** Returns a foreign text with visible control characters, such as ⟨U+202E⟩. */
export function visible(text: string): string {
  return text.replaceAll(hidden, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`;
  });
}
