import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build as esbuild, type Metafile } from 'esbuild';

const root = join(import.meta.dirname, '..');

/** Oldest browsers with all used features, such as `light-dark()` and nested CSS. */
const browsers = ['chrome123', 'edge123', 'firefox125', 'safari17.5'];

/**
 * Builds the page of the dashboard into the folder `out`: index.html, and files with a content hash in the name. No source map: source
 * maps contain paths of the build machine.
 */
export async function buildWebPage(out: string): Promise<Metafile> {
  const { metafile } = await esbuild({
    absWorkingDir: root,
    entryPoints: { page: 'src/web/main.tsx', style: 'src/web/style.css', icon: 'src/web/icon.svg' },
    tsconfig: 'src/web/tsconfig.json',
    outdir: out,
    entryNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    loader: { '.svg': 'copy' },
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: browsers,
    minify: true,
    // Images contain the licences of all bundled packages as files.
    legalComments: 'none',
    logLevel: 'silent',
    metafile: true,
  });
  const names = Object.keys(metafile.outputs).map((path) => path.split('/').at(-1) ?? '');
  await mkdir(out, { recursive: true });
  await writeFile(join(out, 'index.html'), indexHtml(names));
  return metafile;
}

/** Returns the shell without inline code or style: the content security policy of the server refuses both. */
function indexHtml(names: readonly string[]): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>MultiNIC</title>
<link rel="icon" href="${pathOf(names, 'icon', '.svg')}">
<link rel="stylesheet" href="${pathOf(names, 'style', '.css')}">
<script type="module" src="${pathOf(names, 'page', '.js')}"></script>
</head>
<body>
<div id="page"></div>
<noscript>MultiNIC needs JavaScript. JavaScript가 필요합니다.</noscript>
</body>
</html>
`;
}

function pathOf(names: readonly string[], start: string, end: string): string {
  const name = names.find((each) => each.startsWith(`${start}-`) && each.endsWith(end));
  if (name === undefined) throw new Error(`the page has no file ${start}-…${end}`);
  return `/${name}`;
}
