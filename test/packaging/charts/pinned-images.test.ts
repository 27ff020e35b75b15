import { describe, expect, it } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };
import { type Installation, render } from './helm.ts';

const charts = ['multinic-operator', 'multinic-agent'] as const;
/** Version of the charts in git. */
const { version } = manifest;
const digest = (letter: string) => `sha256:${letter.repeat(64)}`;
const amd64 = [
  `amd64/multinic-controllers:${version}@${digest('a')}`,
  `amd64/multinic-agent:${version}@${digest('b')}`,
];
const both = [
  ...amd64,
  `arm64/multinic-controllers:${version}@${digest('c')}`,
  `arm64/multinic-agent:${version}@${digest('d')}`,
];

/** Digests of the images in a rendered chart, by the end of the image's name; `none` for an image without digest. */
async function pinned(installation: Installation): Promise<readonly string[]> {
  const text = await render(installation);
  const found = text.matchAll(/localhost\/(multinic-\w+):[\w.-]+(?:@(sha256:\w+))?/g);
  return [...new Set([...found].map(([, name, of = 'none']) => `${name} ${of}`))].toSorted();
}

describe.each(charts)('%s', (chart) => {
  const names = chart === 'multinic-agent' ? ['agent', 'controllers'] : ['controllers'];

  it.each([
    [{ imageDigests: both }, {}],
    [
      { imageDigests: amd64, pinDigests: true },
      { agent: digest('b'), controllers: digest('a') },
    ],
    [
      { imageDigests: both, pinDigests: true, imageArchitecture: 'arm64' },
      { agent: digest('d'), controllers: digest('c') },
    ],
  ] as const)('with global values %j names images by the digests %j', async (global, digests) => {
    const expected = names.map(
      (name) => `multinic-${name} ${(digests as Record<string, string>)[name] ?? 'none'}`,
    );
    expect(await pinned({ chart, values: { global } })).toEqual(expected);
  });
});

it("a part's digest replaces the digest of the release", async () => {
  const global = { imageDigests: amd64, pinDigests: true };
  const values = { global, agent: { image: { tag: 'own', digest: digest('e') } } };
  expect(await pinned({ chart: 'multinic-agent', values })).toEqual([
    `multinic-agent ${digest('e')}`,
    `multinic-controllers ${digest('a')}`,
  ]);
});

it.each([
  [{ pinDigests: true }, {}, 'this chart has no global.imageDigests: use the chart of a release'],
  [
    { pinDigests: true, imageDigests: both },
    {},
    'the release has images for several architectures: set global.imageArchitecture',
  ],
  [
    { pinDigests: true, imageDigests: amd64 },
    { tag: 'own' },
    'agent.image.tag is own, and global.pinDigests names images of this release',
  ],
  [
    { pinDigests: true, imageDigests: amd64 },
    { repository: 'nic/own-agent' },
    `global.imageDigests has no digest of own-agent:${version} for amd64: set agent.image.digest`,
  ],
  [
    { pinDigests: true, imageDigests: amd64, imageArchitecture: 'arm64' },
    {},
    `global.imageDigests has no digest of multinic-agent:${version} for arm64: set agent.image.digest`,
  ],
  [
    { pinDigests: true, imageDigests: amd64.map((each) => each.replace(version, '0.1.0')) },
    {},
    'or leave global.imageDigests of another version out of your values',
  ],
  [{ imageDigests: ['multinic-agent'] }, {}, "'multinic-agent' does not match pattern"],
])('global values %j with the image %j of agents are refused', async (global, image, message) => {
  const values = { global, agent: { image } };
  await expect(render({ chart: 'multinic-agent', values })).rejects.toThrow(message);
});
