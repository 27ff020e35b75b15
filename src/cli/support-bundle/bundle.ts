import { gzipSync } from 'node:zlib';
import { textOf } from './collect.ts';
import type { Collected } from './entries.ts';
import { indexPage } from './index-page.ts';
import { Redactor } from './redact.ts';
import { type TarFile, tarOf } from './tar.ts';
import { Tokens } from './tokens.ts';

/** Size limit of an archive: 20 MB, with room for the index. */
const mostBytes = 19_500_000;

export interface Bundle {
  readonly archive: Buffer;
  readonly files: number;
  readonly redactor: Redactor;
  /** Files that did not fit. */
  readonly leftOut: readonly string[];
}

export interface BundleOptions {
  readonly name: string;
  readonly addresses: boolean;
  readonly at: Date;
}

/** Redacts the files and packs as many as fit: objects first, then logs, the newest first. */
export function bundleOf(collected: Collected, { name, addresses, at }: BundleOptions): Bundle {
  const redactor = new Redactor();
  const tokens = addresses ? undefined : new Tokens(collected.names);
  const tokenized = (text: string) => tokens?.text(text) ?? text;
  const { entries } = collected;
  // Values of secret keys are known before the first text is searched for them.
  const objects = entries.map(({ content }) => redactor.object(content));
  const files: TarFile[] = [];
  const leftOut: string[] = [];
  let bytes = 0;
  const order = entries.map((entry, index) => ({ entry, content: objects[index] }));
  const sorted = order.toSorted(
    (a, b) => Number(a.entry.isLog ?? false) - Number(b.entry.isLog ?? false),
  );
  for (const { entry, content } of sorted) {
    const path = tokenized(entry.path);
    const text = tokenized(redactor.text(textOf(entry.path, content)));
    const packed = gzipSync(text).length + 600;
    if (bytes + packed > mostBytes) {
      leftOut.push(path);
      continue;
    }
    bytes += packed;
    files.push({ path: `${name}/${path}`, content: Buffer.from(text) });
  }
  const skipped = collected.skipped.map(({ what, why }) =>
    tokenized(redactor.text(`${what}: ${why}`)),
  );
  const page = indexPage({ name, files, skipped, leftOut, redactor, at });
  const all = [{ path: `${name}/index.html`, content: Buffer.from(page) }, ...files];
  return { archive: gzipSync(tarOf(all, at)), files: all.length, redactor, leftOut };
}
