import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { settingsOfParts } from '../../build/settings-of-parts.ts';
import { metricTable } from '../../src/api/metrics.ts';
import { reasons } from '../../src/api/reasons.ts';
import { commands } from '../../src/cli/main-cli.ts';
import type { Settings } from '../../src/process/settings.ts';
import { blocksOf, guides, koreanOf, variablesOf } from './guides.ts';
import { filesBelow, root, textOf } from './tree.ts';

const settings = Object.values<Settings>(settingsOfParts).flatMap((part) => Object.values(part));

/** Flags of other programs that guides use. */
const flagsOfOthers = {
  kubectl:
    'all docker-password docker-server docker-username duration for from from-file from-literal kubeconfig minify overwrite replicas server-side sort-by',
  helm: 'create-namespace force-conflicts install logs reuse-values skip-crds take-ownership values wait',
  curl: 'data-binary fail',
  tar: 'one-top-level strip-components',
  git: 'tags unshallow',
  skopeo: 'preserve-digests',
  sha256sum: 'check quiet',
  openstack: 'property',
  'multinic agent': 'request',
};

const definitions = await Promise.all(Object.values(commands).map(async (load) => load()));

const flags = new Set([
  ...settings.map(({ flag }) => flag),
  ...definitions.flatMap((define) => longOptionsOf(define(() => undefined))),
  ...['deploy-operator.sh', 'cleanup-operator.sh', ...filesBelow('scripts')].flatMap(optionsOf),
  ...optionsOf('build/image/release/load-images.sh'),
  ...filesBelow('build/image').flatMap(parsedOptionsOf),
  ...Object.values(flagsOfOthers).flatMap((names) => names.split(' ')),
]);

/** Options of a command and its subcommands. */
function longOptionsOf({ options, commands: subcommands }: Command): string[] {
  const own = options.flatMap(({ long }) => long?.slice(2) ?? []);
  return [...own, ...subcommands.flatMap(longOptionsOf)];
}

/** Options of a shell script: the words of its `case`. */
function optionsOf(path: string): string[] {
  return [...textOf(path).matchAll(/^\s+--([a-z-]+)(?: \| -\w)?\)/gm)].map(([, name = '']) => name);
}

/** Options of a script that parses them with `parseArgs`. */
function parsedOptionsOf(path: string): string[] {
  return [...textOf(path).matchAll(/^\s+'?([a-z-]+)'?: \{ type: /gm)].map(([, name = '']) => name);
}

/** Paths of the values of both charts, and whether what is below each is somebody else's form. */
const values = new Map(
  ['agent', 'operator'].flatMap((chart) =>
    [...textOf(`docs/reference/values-${chart}.md`).matchAll(/^\| `([\w.]+)` \| ([^|]+) \|/gm)].map(
      ([, path = '', type = '']) => [path, /object/.test(type)] as const,
    ),
  ),
);
const groups = new Set([...values.keys()].map((path) => path.split('.')[0]));

/** Whether a path is a value, a group of values, or within a value that is a Kubernetes object. */
function isValue(path: string): boolean {
  const above = path.split('.').map((_, i, parts) => parts.slice(0, i).join('.'));
  return (
    values.has(path) ||
    [...values.keys()].some((known) => known.startsWith(`${path}.`)) ||
    above.some((known) => values.get(known) === true)
  );
}

function leavesOf(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [path];
  const below = path === '' ? '' : `${path}.`;
  return Object.entries(value).flatMap(([key, inner]) => leavesOf(inner, below + key));
}

/** Names in camel case that are no reasons: kinds, conditions, and names of Kubernetes and of fields. */
const wordsOfOthers = new Set(
  'OpenstackConfig MultiNicNodeConfig CreatedAfterConfig InProgress NICsReady ClusterUnique OwnerVerified ContainerCreating ErrImagePull ImagePullBackOff'.split(
    ' ',
  ),
);

/** Variables of other programs, and what looks like one. */
const variablesOfOthers =
  'KUBECONFIG POD_NAME DEBIAN_MIRROR CONTAINERD_ADDRESS NET_ADMIN RABBITMQ_URLS RABBITMQ_USER RABBITMQ_PASSWORD'.split(
    ' ',
  );

/** What the deployed Go system is set, and has no counterpart here. */
const variablesOfDeployed =
  'CONTROLLER_JOB_DELETE_DELAY CONTROLLER_METRICS_PORT CONTROLLER_MODE NODE_CR_NAMESPACE POLL_INTERVAL ROUTING_CONFIG';

function matches(text: string, pattern: RegExp): string[] {
  return [...new Set([...text.matchAll(pattern)].map(([, found = '']) => found))];
}

const english = ['README.md', 'docs/faq.md', ...guides];
const pages = [...english, ...english.map(koreanOf)];

describe.each(pages)('%s names', (path) => {
  const page = textOf(path);

  it('metrics that there are', () => {
    // Account and schemas of MariaDB begin like metrics.
    const named = matches(page, /\b(multinic_(?!backup\b|restore\b|before_restore\b)[a-z_]+)/g);
    expect(named.filter((name) => !(name in metricTable))).toEqual([]);
  });

  it('flags that there are', () => {
    const named = matches(page, /(?:^|[\s`[])--([a-z][a-z0-9-]+)/g);
    expect(named.filter((name) => !flags.has(name))).toEqual([]);
  });

  it('variables that settings have, or that it has its reader export', () => {
    const known = new Set([
      ...guides.flatMap(variablesOf),
      ...settings.flatMap(({ env }) => env),
      ...variablesOfOthers,
      ...variablesOfDeployed.split(' '),
    ]);
    const named = matches(page, /`([A-Z]+(?:_[A-Z]+)+)`/g);
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });

  it('values that the charts have', () => {
    const named = matches(page, /`(\w+(?:\.\w+)+)(?:[=:][^`]*)?`/g).filter(
      (name) => groups.has(name.split('.')[0]) && !name.endsWith('.yaml'),
    );
    expect(named.filter((name) => !isValue(name))).toEqual([]);
    const files = valuesFilesIn(page).flatMap((text) => leavesOf(parse(text)));
    expect(files.filter((name) => !isValue(name))).toEqual([]);
  });

  it('reasons and alerts that there are', () => {
    const words = matches(page, /`([A-Z]\w*[a-z]\w*[A-Z]\w*)`/g).filter(
      (word) => !wordsOfOthers.has(word) && !(word in reasons),
    );
    expect(words).toEqual([]);
    const alerts = matches(page, /\b(MultiNic[A-Z]\w+)/g).filter((word) => !isKind(word));
    expect(alerts.filter((alert) => !textOf('docs/runbooks/README.md').includes(alert))).toEqual(
      [],
    );
  });

  it('targets of make and files that there are', () => {
    const targets = matches(page, /\bmake ([a-z][a-z0-9-]+)/g);
    const known = textOf('Makefile');
    expect(targets.filter((target) => !known.includes(`\n${target}:`))).toEqual([]);
    const files = matches(page, /(?:^|[\s`])(?:\.\/)?((?:scripts\/)?[\w-]+\.sh)\b/gm);
    expect(files.filter((file) => !isThere(file))).toEqual([]);
  });

  it('fields of an OpenstackConfig that there are', () => {
    const objects = matches(page, /^(apiVersion: multinic\.example\.com[\s\S]*?)^END$/gm);
    const unknown = objects.flatMap((text) => unknownFields(parse(text), openstackConfigSchema));
    expect(unknown).toEqual([]);
  });
});

/** In the checkout, or in a release. */
function isThere(file: string): boolean {
  return ['', 'build/image/release'].some((folder) => existsSync(join(root, folder, file)));
}

function isKind(word: string): boolean {
  if (/^MultiNicBizConfigs?$/.test(word)) return true;
  return word.startsWith('MultiNicNodeConfig') && !word.startsWith('MultiNicNodeConfigNot');
}

/** Values files that a page shows, or has its reader write. */
function valuesFilesIn(page: string): string[] {
  const shown = blocksOf(page).filter(({ text }) => /^# (operator|agent)-values/.test(text));
  const written = matches(page, /^cat >"\$\w+_VALUES" <<END\n([\s\S]*?)^END$/gm);
  return [...shown.map(({ text }) => text), ...written];
}

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
}

/** The schema of an OpenstackConfig, as it is installed. */
const openstackConfigSchema = (
  parse(textOf('deploy/crds/multinic.example.com_openstackconfigs.yaml')) as {
    spec: { versions: [{ schema: { openAPIV3Schema: Schema } }] };
  }
).spec.versions[0].schema.openAPIV3Schema;

function unknownFields(value: unknown, { properties }: Schema, path = ''): string[] {
  if (!properties || typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const schema = properties[key];
    return schema ? unknownFields(inner, schema, `${path}${key}.`) : [path + key];
  });
}
