import type { Redactor } from './redact.ts';
import type { TarFile } from './tar.ts';

export interface Index {
  readonly name: string;
  readonly files: readonly TarFile[];
  readonly skipped: readonly string[];
  readonly leftOut: readonly string[];
  readonly redactor: Redactor;
  readonly at: Date;
}

/** Returns a page with links to the files: no script, no style or image from elsewhere. */
export function indexPage({ name, files, skipped, leftOut, redactor, at }: Index): string {
  const doctor = files.find(({ path }) => path === `${name}/doctor.txt`)?.content.toString() ?? '';
  const links = files.map(({ path, content }) => {
    const relative = path.slice(name.length + 1);
    const target = relative.split('/').map(encodeURIComponent).join('/');
    return `<li><a href="${escaped(target)}">${escaped(relative)}</a> (${content.length} bytes)</li>`;
  });
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escaped(name)}</title>
<style>body { font-family: sans-serif; margin: 2em } pre { background: #f4f4f4; padding: 1em; overflow: auto }</style>
</head>
<body>
<h1>${escaped(name)}</h1>
<p>Collected at ${at.toISOString()}. Secrets were not read. ${redactor.total} values were redacted.</p>
<h2>Doctor</h2>
<pre>${escaped(doctor)}</pre>
<h2>Not read</h2>
${listOf(['Secrets', ...skipped])}
<h2>Left out because of the size limit</h2>
${listOf(leftOut.length > 0 ? leftOut : ['nothing'])}
<h2>Files</h2>
<ul>
${links.join('\n')}
</ul>
</body>
</html>
`;
}

function listOf(texts: readonly string[]): string {
  return `<ul>\n${texts.map((text) => `<li>${escaped(text)}</li>`).join('\n')}\n</ul>`;
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
