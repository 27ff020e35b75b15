// Two leaders never overlap: 200 contests at a lease of 3 s, 20 at once, and five at 15 s; prints a table.
// Usage: node test/property/leaders/main.ts [contests] [lease in ms] [contests at once] [first seed]
import { startApiServer } from '../../../rig/apiserver/server.ts';
import { type ContestResult, randomOf, runContest } from './contest.ts';

const [contests, leaseMs, atOnce, firstSeed = 1] = process.argv.slice(2).map(Number);
const plans =
  contests && leaseMs
    ? [{ contests, leaseMs, atOnce: atOnce ?? 20, firstSeed }]
    : [
        { contests: 200, leaseMs: 3_000, atOnce: 20, firstSeed },
        { contests: 5, leaseMs: 15_000, atOnce: 5, firstSeed },
      ];
const columns = ['terms', 'lost', 'overlaps', 'lateWrites', 'overruns', 'faults'] as const;

console.log(`| lease | contests | ${columns.join(' | ')} |`);
console.log(`|${' --- |'.repeat(columns.length + 2)}`);
for (const plan of plans) {
  const results = await run(plan);
  const sums = columns.map((column) => results.reduce((sum, result) => sum + result[column], 0));
  console.log(`| ${plan.leaseMs / 1000} s | ${results.length} | ${sums.join(' | ')} |`);
  const flaws = results.filter(({ overlaps, lateWrites }) => overlaps + lateWrites > 0);
  if (flaws.length > 0 || results.some(({ terms }) => terms === 0)) process.exitCode = 1;
}

async function run(plan: (typeof plans)[number]): Promise<ContestResult[]> {
  await using api = await startApiServer();
  const results: ContestResult[] = [];
  for (let first = 0; first < plan.contests; first += plan.atOnce) {
    const seeds = Array.from(
      { length: Math.min(plan.atOnce, plan.contests - first) },
      (_, n) => plan.firstSeed + first + n,
    );
    const round = seeds.map(async (seed) => {
      const result = await runContest({
        api,
        name: `lease-${plan.leaseMs}-${seed}`,
        random: randomOf(seed),
        leaseMs: plan.leaseMs,
        lastsMs: plan.leaseMs * 5,
      });
      const { overlaps, lateWrites } = result;
      if (overlaps + lateWrites > 0) console.error(`seed ${seed}: ${JSON.stringify(result)}`);
      return result;
    });
    results.push(...(await Promise.all(round)));
  }
  return results;
}
