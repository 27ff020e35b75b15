import { expect, it } from 'vitest';
import { visible } from './visible.ts';

it.each([
  ['worker-1', 'worker-1'],
  ['<b>한글 é 🙂</b>', '<b>한글 é 🙂</b>'],
  ['a\u202Eb\u2066c\u200Fd', 'a⟨U+202E⟩b⟨U+2066⟩c⟨U+200F⟩d'],
  ['a\u0000b\u001b[31m\u009bc', 'a⟨U+0000⟩b⟨U+001B⟩[31m⟨U+009B⟩c'],
  ['a\u200Bb\uFEFFc\u2028d', 'a⟨U+200B⟩b⟨U+FEFF⟩c⟨U+2028⟩d'],
  ['a\u{E0041}b', 'a⟨U+E0041⟩b'],
])('the name %j is shown as %s', (name, shown) => {
  expect(visible(name)).toBe(shown);
});
