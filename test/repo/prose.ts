/** The texts of a file that people read, by kind. */
export interface Prose {
  readonly comments: readonly string[];
  readonly titles: readonly string[];
  /** Messages of a shell script, paragraphs of a page. */
  readonly texts: readonly string[];
}

const noProse: Prose = { comments: [], titles: [], texts: [] };

/** Returns the prose of a source file, shell script, chart template or page; no prose of other files. */
export function proseOf(path: string, text: string): Prose {
  if (/\.tsx?$/.test(path)) return proseOfTypeScript(text);
  if (path.endsWith('.sh')) return proseOfShell(text);
  if (path.endsWith('.tpl')) return proseOfTemplate(text);
  return path.endsWith('.md') ? proseOfPage(text) : noProse;
}

function proseOfTypeScript(source: string): Prose {
  const comments = source.matchAll(/\/\*\*?(.*?)\*\/|^[ \t]*\/\/([^\n]*)$/gms);
  const titles = source.matchAll(
    /(?<![.\w])(?:it|test|describe)(?:\.\w+)*(?:\([^)]*\))?\(\s*(['"`])((?:\\.|(?!\1).)*)\1/gs,
  );
  return {
    ...noProse,
    comments: [...comments].map(([, block, line]) =>
      (block ?? line ?? '').replace(/\n\s*\*/g, ' '),
    ),
    titles: [...titles].map(([, , title = '']) => title),
  };
}

function isComment(line: string): boolean {
  return /^\s*#(?!!| shellcheck )/.test(line);
}

/** A quoted string counts as a message when three words stand in a row; templates of kubectl do not count. */
function proseOfShell(source: string): Prose {
  const lines = source.split('\n');
  const strings = lines
    .filter((line) => !isComment(line))
    .flatMap((line) => [...line.matchAll(/"((?:\\.|[^"\\])+)"/g)].map(([, string = '']) => string));
  return {
    ...noProse,
    comments: lines.filter(isComment).map((line) => line.replace(/^\s*#+/, '')),
    texts: strings
      .filter((string) => !string.includes('{{'))
      .map(withoutExpansions)
      .filter((string) => /[A-Za-z,]+ [A-Za-z,]+ [A-Za-z,]+/.test(string)),
  };
}

/** Replaces expansions such as `$1` and `${name:-none}`: names of variables are no words. */
function withoutExpansions(string: string): string {
  return string.replace(/\$\{[^}]*\}|\$\w+/g, '…');
}

function proseOfTemplate(source: string): Prose {
  const comments = source.matchAll(/\{\{-? *\/\*(.*?)\*\/|^[ \t]*#([^\n]*)$/gms);
  return { ...noProse, comments: [...comments].map(([, block, line]) => block ?? line ?? '') };
}

/** Code, links' targets and HTML are no prose; a table row is a paragraph. */
function proseOfPage(page: string): Prose {
  const prose = page
    .replace(/^```.*?^```/gms, '')
    .replace(/`[^`]*`/g, '')
    .replace(/\]\([^)]*\)/g, ']')
    .replace(/<[^>]*>/g, '');
  return { ...noProse, texts: prose.split(/\n\s*\n|\n(?=[|#-])/) };
}
