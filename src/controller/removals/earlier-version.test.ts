import { afterEach, describe, expect, it } from 'vitest';
import { RemovalFleet } from '../../../test/fixtures/removal-fleet.ts';

let fleet: RemovalFleet;

afterEach(() => fleet[Symbol.asyncDispose]());

/** Changes the record while no controller runs, as a controller of an earlier version leaves it. */
async function leaveRecord(applied: object): Promise<void> {
  await fleet.fixture.stop();
  await fleet.setStatus('a', { applied });
  fleet.fixture.run();
}

const ofEarlierVersion = { requested: null, knownFrom: null, basis: null, removed: null };

describe('records from earlier controllers', () => {
  it('an edit removes a NIC without consent although the first run loses the result', async () => {
    fleet = await RemovalFleet.start(1, 2);
    await leaveRecord(ofEarlierVersion);
    const { agents } = fleet.fixture;
    const { answer } = agents;
    let lost = true;
    agents.answer = (request) => {
      if (!lost) return answer(request);
      lost = false;
      return 'garbage';
    };
    const from = agents.requests.length;
    await fleet.apply('a');
    await fleet.untilGood();
    expect(agents.macsOn('a')).toEqual([fleet.macOf('a')]);
    const { macAddress } = fleet.second('a');
    expect(agents.requests.slice(from).map(({ mayRemove }) => mayRemove)).toEqual([
      [macAddress],
      [macAddress],
    ]);
  });

  it('a run started by an earlier controller and ended by this controller makes the NIC an own NIC', async () => {
    fleet = await RemovalFleet.start(1);
    const { agents } = fleet.fixture;
    const { answer } = agents;
    agents.answer = () => undefined;
    const from = agents.requests.length;
    await fleet.apply('a', [fleet.nic('a'), fleet.second('a')]);
    await fleet.fixture.eventually(
      () => agents.requests.length > from,
      () => 'no run starts',
    );
    await leaveRecord(ofEarlierVersion);
    agents.answer = answer;
    await fleet.fixture.untilReady('a', 'True AllInterfacesConfigured');
    await fleet.apply('a');
    await fleet.untilGood();
    expect(agents.macsOn('a')).toEqual([fleet.macOf('a')]);
  });

  it('an edit removes a NIC configured after a downgrade without consent', async () => {
    fleet = await RemovalFleet.start(1, 2);
    // A merge patch of the earlier version leaves fields of a later version unchanged.
    await leaveRecord({ requested: [fleet.macOf('a')] });
    await fleet.apply('a');
    await fleet.untilGood();
    expect(fleet.untouched()).toEqual(['a']);
    expect(fleet.untouched(2)).toEqual([]);
  });

  it('an earlier agent adds NICs', async () => {
    fleet = await RemovalFleet.start(1);
    await leaveRecord(ofEarlierVersion);
    const { agents } = fleet.fixture;
    const { answer } = agents;
    const unreadable = JSON.stringify({ protocol: 9 });
    agents.answer = (request) => (request.protocol > 3 ? unreadable : answer(request));
    await fleet.apply('a', [fleet.nic('a'), fleet.second('a')]);
    await fleet.untilGood();
    expect(fleet.untouched(2)).toEqual(['a']);
  });
});
