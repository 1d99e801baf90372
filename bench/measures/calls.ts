/** Calls of a step against calls of the bare SDK client (PE-1): one wire, one era, given as arguments. */
import { checkSame, openBare, openHoldfast, openPlace } from '../peers.ts';
import type { Wire } from '../peers.ts';
import { compare } from '../rounds.ts';
import { parseEra } from '../servers/serve.ts';
import { isQuick, progress, report } from './measure.ts';

const [wireName, eraName] = process.argv.slice(2);
const wire = parseWire(wireName);
const era = parseEra(eraName);
const rounds = isQuick ? 5 : 15;
const roundMs = isQuick ? 120 : 250;

const place = await openPlace(wire, era);
const bare = await openBare(place, era);
const holdfast = await openHoldfast(place);
await checkSame(bare, holdfast);
const results = [];
for (const concurrency of [1, 100]) {
  progress(`${wire} ${era}, ${String(concurrency)} at a time`);
  const { ratio, a, b } = await compare(bare.call, holdfast.call, {
    concurrency,
    rounds,
    roundMs,
    warmUpMs: isQuick ? 300 : 1_000,
  });
  results.push({ wire, era, concurrency, ratio, bare: a, holdfast: b });
}
await holdfast.close();
await bare.close();
await place.close();
report(results);

function parseWire(text: string | undefined): Wire {
  if (text === 'memory' || text === 'stdio' || text === 'http') return text;
  throw new Error(`Expected "memory", "stdio" or "http", got "${String(text)}".`);
}
