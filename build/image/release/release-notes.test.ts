import { expect, it } from 'vitest';
import { releaseNotes } from './release-notes.ts';

const changelog = (...headings: readonly string[]): string =>
  ['# Changelog\n\nOne version for all parts.\n']
    .concat(headings.map((heading) => `## ${heading}\n\n- Change of ${heading}.\n`))
    .join('\n');

const development = '1.3.0-dev.5.g0a1b2c3d';

it.each([
  ['1.2.3', ['Unreleased', '1.2.3', '1.2.2'], '1.2.3'],
  ['1.2.3', ['Unreleased', '[1.2.3] - 2026-11-27', '1.2.2'], '[1.2.3] - 2026-11-27'],
  [development, ['Unreleased', '1.2.30'], 'Unreleased'],
  [`${development}.dirty-4e5f6a7b`, ['Unreleased'], 'Unreleased'],
  ['1.3.0-rc.1.dev.2.g0a1b2c3d', ['Unreleased'], 'Unreleased'],
  ['0.0.0-dev.g0a1b2c3d', ['Unreleased'], 'Unreleased'],
])('the notes for %s from the sections %j are of %s', (version, headings, taken) => {
  const notes = releaseNotes(changelog(...headings), version);
  expect(notes.split('\n')[0]).toBe(`# MultiNIC ${version}`);
  expect(notes.match(/^- .*$/gm)).toEqual([`- Change of ${taken}.`]);
});

it.each([
  ['1.2.3', changelog('Unreleased', '1.2.2')],
  ['1.2.3', `${changelog('Unreleased')}\n## 1.2.3\n`],
  ['1.3.0-rc.1', changelog('Unreleased')],
  [development, changelog('1.2.2')],
])('a release %s without changes in its section is refused', (version, text) => {
  expect(() => releaseNotes(text, version)).toThrow(
    `CHANGELOG.md has no section "## ${version}" with changes; rename "## Unreleased"`,
  );
});
