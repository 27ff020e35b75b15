import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { backupsPerFile, keepBackup } from './backup.ts';

let root: string;
let path: string;
let old: string;
let folder: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'multinic-backup-'));
  path = join(root, '90-multinic0.yaml');
  old = join(root, '.90-multinic0.yaml.multinic-old');
  folder = join(root, 'backup');
});
afterEach(() => rmSync(root, { recursive: true }));

const at = (second: number) => new Date(Date.UTC(2026, 10, 24, 1, 2, second));
const backups = () => readdirSync(folder).toSorted();

function keep(text: string, second: number): void {
  writeFileSync(old, text, { mode: 0o644 });
  keepBackup(old, path, at(second));
}

describe('keepBackup', () => {
  test('keepBackup moves the same inode to a name with the replacement time, readable by root only', () => {
    writeFileSync(old, Buffer.from([0xff, 0x00]), { mode: 0o644 });
    const { ino } = statSync(old);
    keepBackup(old, path, at(3));
    expect(backups()).toEqual(['90-multinic0.yaml.20261124T010203.000Z']);
    const { ino: now, mode } = statSync(join(folder, '90-multinic0.yaml.20261124T010203.000Z'));
    expect([now, mode & 0o777]).toEqual([ino, 0o600]);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(existsSync(old)).toBe(false);
  });

  test('[RW-39] keepBackup keeps the last five backups per file and leaves other files alone', () => {
    mkdirSync(folder);
    const others = ['90-multinic0.yaml.bak', '91-multinic1.yaml.20200101T000000.000Z', 'mine'];
    for (const name of others) writeFileSync(join(folder, name), '');
    for (let second = 0; second < backupsPerFile + 3; second++) keep(`${second}`, second);
    const ours = backups().filter((name) => !others.includes(name));
    expect(ours.map((name) => readFileSync(join(folder, name), 'utf8'))).toEqual(
      Array.from({ length: backupsPerFile }, (_, n) => `${n + 3}`),
    );
    expect(backups()).toEqual(expect.arrayContaining(others));
  });

  test('keepBackup keeps new backups after the clock went back', () => {
    for (let second = 0; second < backupsPerFile + 1; second++) keep('later', 3600 + second);
    for (let second = 0; second < backupsPerFile; second++) {
      keep(`${second}`, second);
      const texts = backups().map((name) => readFileSync(join(folder, name), 'utf8'));
      expect(texts.filter((text) => text !== 'later')).toHaveLength(second + 1);
      expect(texts).toHaveLength(backupsPerFile);
    }
  });

  test('keepBackup gives backups in the same millisecond different names', () => {
    keep('one', 0);
    keep('other', 0);
    expect(backups().map((name) => readFileSync(join(folder, name), 'utf8'))).toEqual([
      'one',
      'other',
    ]);
  });

  test("keepBackup ignores directories and links with a backup's name", () => {
    const theirs = '90-multinic0.yaml.20200101T000000.000Z';
    mkdirSync(join(folder, theirs), { recursive: true });
    symlinkSync('/nowhere', join(folder, '90-multinic0.yaml.20200102T000000.000Z'));
    for (let second = 0; second < backupsPerFile + 3; second++) keep(`${second}`, second);
    expect(backups()).toHaveLength(backupsPerFile + 2);
    expect(existsSync(old)).toBe(false);
  });

  test('keepBackup makes no backup from a link', () => {
    writeFileSync(join(root, 'theirs'), '', { mode: 0o644 });
    symlinkSync(join(root, 'theirs'), old);
    keepBackup(old, path, at(0));
    expect(existsSync(folder)).toBe(false);
    expect(statSync(join(root, 'theirs')).mode & 0o777).toBe(0o644);
  });

  test('keepBackup throws if the backup folder is a link', () => {
    mkdirSync(join(root, 'elsewhere'));
    symlinkSync(join(root, 'elsewhere'), folder);
    expect(() => keep('old', 0)).toThrow('is not a folder');
    expect(readdirSync(join(root, 'elsewhere'))).toEqual([]);
    expect(readFileSync(old, 'utf8')).toBe('old');
  });

  test('keepBackup throws for a file above the size limit', () => {
    expect(() => keep('x'.repeat(65_537), 0)).toThrow(
      '65537 bytes exceed the limit of 65536 bytes',
    );
    expect(existsSync(folder)).toBe(false);
  });

  test('keepBackup leaves the mode for a file with a second hard link', () => {
    writeFileSync(old, 'old', { mode: 0o644 });
    linkSync(old, join(root, 'theirs'));
    keepBackup(old, path, at(0));
    expect(statSync(join(root, 'theirs')).mode & 0o777).toBe(0o644);
  });
});
