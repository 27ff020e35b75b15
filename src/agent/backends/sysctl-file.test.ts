import { describe, expect, test } from 'vitest';
import { entry, link, macOf } from '../../../test/fixtures/agent-samples.ts';
import { desiredNic } from '../planning/desired.ts';
import { netplan } from './netplan.ts';
import { withSysctlFile } from './sysctl-file.ts';

const backend = withSysctlFile(netplan);
const nic = desiredNic(entry(1), 3, link(1), []);
const [file] = backend.render(nic).companions;
if (!file) throw new Error('no file');

describe('sysctl file for a NIC', () => {
  test("the sysctl file is added to the backend's files", () => {
    expect(backend.render(nic).main).toEqual(netplan.render(nic).main);
    expect(backend.places).toEqual([
      ...netplan.places,
      { directory: '/etc/sysctl.d', suffix: '.conf' },
    ]);
    expect(file.path).toBe('/etc/sysctl.d/93-multinic3.conf');
  });

  test('the sysctl file is recognised as managed, and validation refuses changed content', async () => {
    const own = { mac: macOf(1), index: 3, addresses: [] };
    expect(await backend.read(file)).toMatchObject({ own, macs: [macOf(1)] });
    expect(() => backend.validate(file, nic)).not.toThrow();
    const text = file.text.replace('rp_filter = 2', 'rp_filter = 1');
    expect(() => backend.validate({ ...file, text }, nic)).toThrow('93-multinic3.conf');
    const main = backend.render(nic).main;
    expect(() => backend.validate({ ...main, text: file.text }, nic)).toThrow();
  });

  test.each([
    ['with another name', { ...file, path: '/etc/sysctl.d/93-multinic4.conf' }],
    ['without a NIC', { ...file, text: file.text.replace(/^# NIC/, '#') }],
  ])('a sysctl file %s is foreign', async (_, theirs) => {
    const read = await backend.read(theirs);
    expect(read.own).toBeUndefined();
    expect(read.macs).toEqual([]);
  });

  test('an unreadable foreign sysctl file is ignored, an unreadable managed sysctl file is not', async () => {
    // Debian and Ubuntu ship this link out of the folder, to /etc/sysctl.conf.
    const debian = { path: '/etc/sysctl.d/99-sysctl.conf', text: '', mode: 0, unread: 'ENOENT' };
    expect(await backend.read(debian)).not.toHaveProperty('unread');
    expect(await backend.read({ ...debian, path: file.path })).toMatchObject({ unread: 'ENOENT' });
  });
});
