// Lists the collections that a controller lists when it starts, in pages of 100, and parses them: what such a start costs at
// the least. Prints its CPU time in seconds, without that of the start of Node.js.
//   plain-lists.ts URL PATH…
const [url = '', ...paths] = process.argv.slice(2);
const before = process.cpuUsage();
for (const path of paths) {
  let next: string | undefined = '';
  while (next !== undefined) {
    const answer = await fetch(`${url}${path}?limit=100&continue=${next}`);
    const page = JSON.parse(await answer.text()) as { metadata: { continue?: string } };
    next = page.metadata.continue;
  }
}
const { user, system } = process.cpuUsage(before);
console.log(JSON.stringify({ seconds: (user + system) / 1_000_000 }));
