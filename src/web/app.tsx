import { useSignalEffect } from '@preact/signals';
import type { JSX } from 'preact';
import { isLoggedIn } from './data/read-json.ts';
import { place } from './place/location.ts';
import type { View } from './place/place.ts';
import { ConfigScreen } from './screens/config.tsx';
import { ConfigsScreen } from './screens/configs.tsx';
import { DoctorScreen } from './screens/doctor.tsx';
import { FleetScreen } from './screens/fleet.tsx';
import { HistoryScreen } from './screens/history.tsx';
import { NicScreen, PortScreen } from './screens/nic.tsx';
import { NodeScreen } from './screens/node.tsx';
import { NodesScreen } from './screens/nodes.tsx';
import { OperatorScreen } from './screens/operator.tsx';
import { RolloutsScreen } from './screens/rollouts.tsx';
import type { ScreenProps } from './screens/screen-props.ts';
import { SearchScreen } from './screens/search.tsx';
import { Header, SilenceBanner } from './shell/header.tsx';
import { LoginPage } from './shell/login-page.tsx';
import { Navigation } from './shell/navigation.tsx';
import { language, say } from './words/language.ts';
import { pageTexts } from './words/page-texts.ts';

const screens: Readonly<Record<View, (props: ScreenProps) => JSX.Element>> = {
  fleet: FleetScreen,
  nodes: NodesScreen,
  node: NodeScreen,
  nic: NicScreen,
  port: PortScreen,
  configs: ConfigsScreen,
  config: ConfigScreen,
  search: SearchScreen,
  doctor: DoctorScreen,
  history: HistoryScreen,
  rollouts: RolloutsScreen,
  operator: OperatorScreen,
};

/** The whole page: shell, and the screen of the address. */
export function App() {
  useSignalEffect(() => {
    document.documentElement.lang = language.value;
    document.title = `${say(pageTexts[place.value.view])} · MultiNIC`;
  });
  if (!isLoggedIn.value) return <LoginPage />;
  const { view, fields } = place.value;
  const CurrentScreen = screens[view];
  return (
    <>
      <Header />
      <SilenceBanner />
      <div class="columns">
        <Navigation />
        <main id="content" tabIndex={-1}>
          <CurrentScreen key={objectIn(fields, view)} fields={fields} />
        </main>
      </div>
    </>
  );
}

/** Returns a screen's key: a different filter keeps the screen, a different object does not. */
function objectIn(fields: ScreenProps['fields'], view: View): string {
  if (!['node', 'nic', 'port', 'config'].includes(view)) return view;
  return JSON.stringify([view, fields]);
}
