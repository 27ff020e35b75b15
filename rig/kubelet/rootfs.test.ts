import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { buildRootfs, type Rootfs, translateArguments } from './rootfs.ts';

describe('the view of a container', () => {
  let folder = '';
  let rootfs: Rootfs;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'rootfs-'));
    const netplan = mkdtempSync(join(folder, 'netplan-'));
    writeFileSync(join(netplan, '10-primary.yaml'), 'primary');
    const mounts = [{ mountPath: '/host/etc/netplan', source: netplan }];
    rootfs = await buildRootfs(join(folder, 'view'), mounts, '/dev/termination-log');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('has its mounts and its termination message, nothing else', () => {
    const inside = rootfs.resolve('/host/etc/netplan/10-primary.yaml');
    expect(readFileSync(inside, 'utf8')).toBe('primary');
    expect(readFileSync(rootfs.resolve('/dev/termination-log'), 'utf8')).toBe('');
    expect(rootfs.resolve('/host/etc/netplanned')).toBe('/host/etc/netplanned');
    expect(rootfs.resolve('/proc/1')).toBe('/proc/1');
  });

  it('gives arguments the real places of what they name', () => {
    const given = [
      '--host-root',
      '/host',
      '--result=/dev/termination-log',
      '--level',
      'debug',
      'a=/host',
    ];
    const view = join(folder, 'view');
    expect(translateArguments(given, rootfs)).toEqual([
      '--host-root',
      `${view}/host`,
      `--result=${view}/dev/termination-log`,
      '--level',
      'debug',
      'a=/host',
    ]);
  });
});
