/** File in an archive. */
export interface TarFile {
  readonly path: string;
  readonly content: Buffer;
}

const block = 512;

/** Packs files in the ustar format (POSIX.1-1988). Throws if a path has more than 255 bytes. */
export function tarOf(files: readonly TarFile[], at: Date): Buffer {
  const parts = files.flatMap(({ path, content }) => [
    headerOf(path, content.length, at),
    content,
    Buffer.alloc((block - (content.length % block)) % block),
  ]);
  return Buffer.concat([...parts, Buffer.alloc(2 * block)]);
}

function headerOf(path: string, size: number, at: Date): Buffer {
  const header = Buffer.alloc(block);
  const { prefix, name } = splitPath(path);
  header.write(name, 0, 100);
  header.write('0000600\0', 100);
  header.write('0000000\0', 108);
  header.write('0000000\0', 116);
  header.write(`${octal(size, 11)} `, 124);
  header.write(`${octal(Math.floor(at.getTime() / 1_000), 11)} `, 136);
  header.write('        ', 148);
  header.write('0', 156);
  header.write('ustar\u000000', 257);
  header.write(prefix, 345, 155);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 6)}\0 `, 148);
  return header;
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0');
}

/** ustar stores at most 100 bytes of name and 155 bytes of folders. */
function splitPath(path: string): { readonly prefix: string; readonly name: string } {
  if (Buffer.byteLength(path) <= 100) return { prefix: '', name: path };
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)];
    if (Buffer.byteLength(name) <= 100 && Buffer.byteLength(prefix) <= 155) return { prefix, name };
  }
  throw new Error(`the path ${path} is too long for an archive`);
}
