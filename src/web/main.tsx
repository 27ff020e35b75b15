import { render } from 'preact';
import { App } from './app.tsx';
import { followVisibility } from './data/live-feed.ts';
import { logIn } from './data/login.ts';
import { startClock } from './data/server-clock.ts';
import { followLocation } from './place/location.ts';

await logIn();
followLocation();
startClock();
followVisibility();
const page = document.getElementById('page');
if (page) render(<App />, page);
