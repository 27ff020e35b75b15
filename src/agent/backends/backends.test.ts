import { describe, expect, test } from 'vitest';
import { dual } from '../../../test/fixtures/desired-nics.ts';
import { hostMounts, ifcfgMount } from '../../api/host-mounts.ts';
import { backends } from './backends.ts';
import { withSysctlFile } from './sysctl-file.ts';

/** Profiles of the other kind, which only some hosts of the family have a folder for. */
const elsewhere = { keyfile: [ifcfgMount.path] } as Partial<Record<string, string[]>>;

describe.each(Object.values(backends))('the Pod for $name', (backend) => {
  const mounts = hostMounts[backend.name];
  const seen = (path: string, writable: boolean) =>
    mounts.some(
      (mount) => `${path}/`.startsWith(`${mount.path}/`) && !(writable && mount.readOnly),
    );
  const whole = withSysctlFile(backend);

  test('sees every place that the family keeps files in', () => {
    const { places, generated } = whole;
    const directories = [...places, ...(generated ? [generated] : [])].map((one) => one.directory);
    const hidden = directories.filter((directory) => !seen(directory, false));
    expect([...new Set(hidden)]).toEqual(elsewhere[backend.name] ?? []);
  });

  test.each([0, 9])('[RW-04] can write all files of NIC %i', (index) => {
    const { companions, main } = whole.render({ ...dual(1), index, name: `multinic${index}` });
    const paths = [...companions, main].map(({ path }) => path);
    expect(paths.filter((path) => !seen(path, true))).toEqual([]);
    expect(main.path).toBe(whole.path(index));
  });
});

test('each backend is in its own place', () => {
  for (const [name, backend] of Object.entries(backends)) expect(backend.name).toBe(name);
});
