(function () {
  "use strict";
  var all = function (selector, root) {
    return Array.prototype.slice.call((root || document).querySelectorAll(selector));
  };

  // A link into a folded part unfolds it.
  function reveal() {
    var name = decodeURIComponent(location.hash.slice(1));
    var target = name && document.getElementById(name);
    if (!target) return;
    for (var node = target; node; node = node.parentElement) {
      if (node.tagName === "DETAILS") node.open = true;
    }
    target.scrollIntoView();
  }
  window.addEventListener("hashchange", reveal);
  reveal();

  // On paper nothing can be unfolded.
  window.addEventListener("beforeprint", function () {
    all("details.finding, details.requirement.look").forEach(function (d) { d.open = true; });
  });

  var form = document.getElementById("filter");
  if (!form) return;
  form.hidden = false;
  var text = form.querySelector("input[type=search]");
  var boxes = all("input[type=checkbox]", form);
  var said = document.getElementById("filter-said");
  var rows = all("tr.case");
  var groups = all("details.requirement");
  var outer = all("section.spec, section.level");
  groups.forEach(function (group) { group.wasOpen = group.open; });

  // What a case can be found by: its id and reason, its requirement, its specification.
  function index() {
    groups.forEach(function (group) {
      var around = group.querySelector("summary").textContent + " " +
        group.parentElement.querySelector("h4").textContent + " ";
      all("tr.case", group).forEach(function (row) {
        var reason = row.querySelector(".reason");
        row.key = (around + row.querySelector("th").title + " " +
          (reason ? reason.textContent : "")).toLowerCase();
      });
    });
    index = function () {};
  }

  function apply() {
    index();
    var words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    var off = {};
    boxes.forEach(function (box) { if (!box.checked) off[box.name + box.value] = true; });
    var narrowed = words.length > 0 || Object.keys(off).length > 0;
    var shown = 0;
    rows.forEach(function (row) {
      var on = !off["outcome" + row.dataset.outcome] && !off["level" + row.dataset.level] &&
        words.every(function (word) { return row.key.indexOf(word) >= 0; });
      row.hidden = !on;
      if (on) shown += 1;
    });
    groups.forEach(function (group) {
      var some = group.querySelector("tr.case:not([hidden])") !== null;
      group.hidden = !some;
      group.open = narrowed ? some && shown <= 400 : group.wasOpen;
    });
    outer.forEach(function (part) {
      part.hidden = part.querySelector("details.requirement:not([hidden])") === null;
    });
    said.textContent = narrowed ? shown + " of " + rows.length + " cases shown" : "";
  }

  var timer = 0;
  form.addEventListener("input", function () {
    clearTimeout(timer);
    timer = setTimeout(apply, 120);
  });
  form.addEventListener("submit", function (event) { event.preventDefault(); apply(); });
  form.addEventListener("reset", function () { setTimeout(apply, 0); });
})();
