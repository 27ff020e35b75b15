import { describe, expect, test } from 'vitest';
import { dual } from '../../../test/fixtures/desired-nics.ts';
import { hostMounts, ifcfgMount } from '../../api/host-mounts.ts';
import { backends } from './backends.ts';
import { withSysctlFile } from './sysctl-file.ts';

/** Folder for profiles in the other format, present only on some hosts. */
const elsewhere = { keyfile: [ifcfgMount.path] } as Partial<Record<string, string[]>>;

describe.each(Object.values(backends))('Pod mounts for $name', (backend) => {
  const mounts = hostMounts[backend.name];
  const seen = (path: string, writable: boolean) =>
    mounts.some(
      (mount) => `${path}/`.startsWith(`${mount.path}/`) && !(writable && mount.readOnly),
    );
  const whole = withSysctlFile(backend);

  test("the Pod's mounts include every place with files", () => {
    const { places, generated } = whole;
    const directories = [...places, ...(generated ? [generated] : [])].map((one) => one.directory);
    const hidden = directories.filter((directory) => !seen(directory, false));
    expect([...new Set(hidden)]).toEqual(elsewhere[backend.name] ?? []);
  });

  test.each([0, 9])('[RW-04] the Pod can write all files for NIC %i', (index) => {
    const { companions, main } = whole.render({ ...dual(1), index, name: `multinic${index}` });
    const paths = [...companions, main].map(({ path }) => path);
    expect(paths.filter((path) => !seen(path, true))).toEqual([]);
    expect(main.path).toBe(whole.path(index));
  });
});

test('each backend is registered by name', () => {
  for (const [name, backend] of Object.entries(backends)) expect(backend.name).toBe(name);
});
