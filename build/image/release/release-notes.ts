/**
 * Returns the changelog section for a version, or `Unreleased` without such a section, under a heading with the version. Throws if both are
 * missing.
 */
export function releaseNotes(changelog: string, version: string): string {
  const sections = changelog.split(/^(?=## )/m);
  const sectionOf = (name: string): string | undefined =>
    sections.find((section) => headingOf(section) === name);
  const section = sectionOf(version) ?? sectionOf('Unreleased');
  if (section === undefined) {
    throw new Error(`CHANGELOG.md has no section "## ${version}"; add it, or "## Unreleased"`);
  }
  const body = section.slice(section.indexOf('\n')).trim();
  return `# MultiNIC ${version}\n\nLinks lead to files of the unpacked archive \`multinic-${version}-linux-*.tar.gz\`.\n\n${body}\n`;
}

/** `1.2.3` of `## 1.2.3`, `## [1.2.3]` and `## 1.2.3 (2026-11-27)`. */
function headingOf(section: string): string | undefined {
  return /^## \[?([^\]\s]+)/.exec(section)?.[1];
}
