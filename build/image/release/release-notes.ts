/**
 * Returns the changelog section for a version under a heading with the version. A development version takes `Unreleased` if it has no
 * section. Throws without a section, because users read there what the release changes.
 */
export function releaseNotes(changelog: string, version: string): string {
  const sections = changelog.split(/^(?=## )/m);
  const sectionOf = (name: string): string => {
    const section = sections.find((each) => headingOf(each) === name) ?? '';
    return section.slice(section.indexOf('\n') + 1).trim();
  };
  const body = sectionOf(version) || (isDevelopment(version) ? sectionOf('Unreleased') : '');
  if (body === '') {
    throw new Error(
      `CHANGELOG.md has no section "## ${version}" with changes; rename "## Unreleased" before you set the tag`,
    );
  }
  return `# MultiNIC ${version}\n\nLinks lead to files of the unpacked archive \`multinic-${version}-linux-*.tar.gz\`.\n\n${body}\n`;
}

/** Whether a version names a commit instead of a tag; see build/version. */
function isDevelopment(version: string): boolean {
  return /[-.]dev\.(\d+\.)?g[0-9a-f]{8}/.test(version);
}

/** `1.2.3` of `## 1.2.3`, `## [1.2.3]` and `## 1.2.3 (2026-11-27)`. */
function headingOf(section: string): string | undefined {
  return /^## \[?([^\]\s]+)/.exec(section)?.[1];
}
