/**
 * Returns a CommonJS module that exits with a message on a Node.js older than `engines`, such as `>=24.18`. The module uses old syntax,
 * because an old Node.js may not parse the bundle.
 */
export function nodeVersionCheck(engines: string): string {
  const [, major, minor] = /^>=(\d+)\.(\d+)$/.exec(engines) ?? [];
  if (major === undefined || minor === undefined) {
    throw new Error(`engines.node "${engines}" of package.json is not >=MAJOR.MINOR`);
  }
  return `var parts = process.versions.node.split('.').map(Number);
if (parts[0] < ${major} || (parts[0] === ${major} && parts[1] < ${minor})) {
  console.error('multinic: ' + process.execPath + ' is Node.js ' + process.versions.node + '; install ${major}.${minor} or later, or use an archive for Linux, which has its own');
  process.exit(1);
}
`;
}
