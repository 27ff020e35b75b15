/** Korean particles: after a consonant, after a vowel. */
const pairs = [
  ['을', '를'],
  ['이', '가'],
  ['은', '는'],
  ['과', '와'],
  ['으로', '로'],
] as const;

/** Alternatives for a regular expression; the longer form comes first. */
export const particles = '으로|로|을|를|이|가|은|는|과|와';

/** Readings of the digits; those of 10, 100 and 1000 end in a consonant, like that of 0. */
const digits = '영일이삼사오육칠팔구';
const firstSyllable = 0xac00;
const lastSyllable = 0xd7a3;
/** Final consonants per vowel, with "none" as the first. */
const finals = 28;
const finalRieul = 8;

/** Returns the form of a particle behind a value; unchanged behind a letter, whose reading is unknown. */
export function particleAfter(value: string, particle: string): string {
  const pair = pairs.find((each) => each.some((form) => form === particle));
  const final = finalOf(value);
  if (pair === undefined || final === undefined) return particle;
  const [afterConsonant, afterVowel] = pair;
  const isVowel = final === 0 || (final === finalRieul && afterVowel === '로');
  return isVowel ? afterVowel : afterConsonant;
}

/** Returns the number of the final consonant of the last syllable, 0 for none; undefined: not Korean and no digit. */
function finalOf(value: string): number | undefined {
  const last = value.replace(/[^\p{L}\p{N}]+$/u, '').at(-1) ?? '';
  const code = (/^\d$/.test(last) ? (digits[Number(last)] ?? '') : last).charCodeAt(0);
  return code >= firstSyllable && code <= lastSyllable
    ? (code - firstSyllable) % finals
    : undefined;
}
