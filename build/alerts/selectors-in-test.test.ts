import { expect, it } from 'vitest';
import { selectorsIn } from './selectors-in-test.ts';

it.each([
  ['up', 'up'],
  ['absent(a_b{lease="x"} == 1)', 'a_b{lease="x"}'],
  ['sum by (cluster, le) (rate(a{r=~"x|y{z", s!="and"}[5m])) > 3', 'a{r="x|y{z",s="and"}'],
  ['a and ignoring (reason) (b == 1) unless c', 'a, b, c'],
  ['min_over_time(a[30m]) / ignoring (part) group_right () b{part="x"} > 0.85', 'a, b{part="x"}'],
])('selectorsIn returns the metrics of %s', (expr, found) => {
  const shown = selectorsIn(expr).map(({ metric, matchers }) => {
    const pairs = [...matchers].map(([label, value]) => `${label}=${value}`);
    return pairs.length === 0 ? metric : `${metric}{${pairs.join(',')}}`;
  });
  expect(shown.join(', ')).toBe(found);
});
