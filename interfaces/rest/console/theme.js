// Loaded before anything is painted: a chosen theme must not flash the other one first.
{
  let chosen = null
  try {
    chosen = localStorage.getItem('ottla-theme')
  } catch {
    // Storage is closed to us: the system's theme is as good.
  }
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen
}
