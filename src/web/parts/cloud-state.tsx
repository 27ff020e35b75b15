import type { ScreenAnswer } from '../../api/dashboard/screens.ts';
import { Name, Sign, Words } from './texts.tsx';

type Cloud = ScreenAnswer<'configs'>['clouds'][number];

/** A cloud's state with the reason. */
export function CloudState({ cloud: { state, reason, text } }: { readonly cloud: Cloud }) {
  return (
    <>
      <Sign of={state} />
      {reason !== undefined && (
        <>
          {' '}
          <Name value={reason} />
        </>
      )}
      {text && (
        <>
          : <Words text={text} />
        </>
      )}
    </>
  );
}
