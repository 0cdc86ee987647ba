"""Tests of what a lab is planned to be: rates, delays, targets, racks, paths."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "lab"))
sys.dont_write_bytecode = True
import plan as plans
from errors import Mistake


class Plan(unittest.TestCase):
    def refuses(self, words, function, *arguments, **named):
        with self.assertRaises(Mistake) as caught:
            function(*arguments, **named)
        self.assertIn(words, str(caught.exception))

    def test_rates(self):
        for text, rate in (("64kbit", 64_000), ("1gbit", 10**9), ("2.5gbit", 2_500_000_000), ("none", None)):
            self.assertEqual(plans.parse_rate(text), rate)
            self.assertEqual(plans.parse_rate(plans.format_rate(rate)), rate)
        for text in ("", "1", "gbit", "1 gbit", "-1gbit", "1Gbit", "1gbits", "1gbps", "1e3kbit", "1gbit\n"):
            self.refuses(f"'{text}' is no rate", plans.parse_rate, text)
        for text in ("1kbit", "0gbit", "401gbit"):
            self.refuses("64kbit to 400gbit", plans.parse_rate, text)

    def test_delays(self):
        self.assertEqual(plans.parse_delay("50us"), 50)
        self.assertEqual(plans.parse_delay("1.5ms"), 1500)
        for text in ("50", "1s", "us", "-1us", "1001ms"):
            self.refuses(f"'{text}' is no delay", plans.parse_delay, text)

    def test_later_rates_count_more(self):
        plan = plans.make(2, rails=2, rates=["rail1=2gbit", "1gbit", "host1=500mbit", "host1.rail0=none"])
        self.assertEqual(plan.rates, {"host0.rail0": 10**9, "host0.rail1": 10**9, "host1.rail1": 5 * 10**8})

    def test_targets(self):
        plan = plans.make(12, rails=2, racks=2)
        self.assertEqual(plans.links_of(plan, "host1"), ["host1.rail0", "host1.rail1"])
        self.assertEqual(plans.links_of(plan, "rail1"), [f"host{host}.rail1" for host in range(12)])
        self.assertEqual(plans.links_of(plan, "host11.rail0"), ["host11.rail0"])
        self.assertEqual(plans.links_of(plan, "rack1"), ["rack1"])
        for target in ("", "host", "host12", "rail2", "rack2", "host1.", ".rail1", "host1rail1", "host1.rail2", "rack"):
            self.refuses(f"there is no '{target}'", plans.links_of, plan, target)
        self.refuses("there is no 'rack0'", plans.links_of, plans.make(4), "rack0")
        self.refuses("there is no ''", plans.make, 2, rates=["=1gbit"])

    def test_limits(self):
        for hosts in (0, 17):
            self.refuses(f"--hosts is {hosts}; it must be from 1 to 16", plans.make, hosts)
        for rails in (0, 9):
            self.refuses(f"--rails is {rails}; it must be from 1 to 8", plans.make, 2, rails=rails)
        for racks in (0, 4):
            self.refuses(f"--racks is {racks}; it must be from 1 to 3", plans.make, 3, racks=racks)
        self.refuses("add --racks", plans.make, 2, uplink="1gbit")

    def test_racks_divide_the_hosts(self):
        for hosts in range(1, 17):
            for racks in range(1, hosts + 1):
                places = [plans.make(hosts, racks=racks).rack_of(host) for host in range(hosts)]
                self.assertEqual(places, sorted(places))
                sizes = [places.count(rack) for rack in range(racks)]
                self.assertLessEqual(max(sizes) - min(sizes), 1)

    def test_the_slowest_link_of_a_path_counts(self):
        plan = plans.make(4, rails=2, racks=2, uplink="500mbit", rates=["1gbit", "host3.rail1=100mbit", "host0.rail1=none"])
        self.assertEqual(plan.nominal(0, 1, rail=0), 10**9)
        self.assertEqual(plan.nominal(1, 2, rail=0), 5 * 10**8)
        self.assertEqual(plan.nominal(0, 3, rail=1), 10**8)
        self.assertIsNone(plans.make(2).nominal(0, 1, rail=0))

    def test_addresses_are_private_and_distinct(self):
        addresses = {plans.address(host, rail) for host in range(plans.HOSTS_MAX) for rail in range(plans.RAILS_MAX)}
        self.assertEqual(len(addresses), plans.HOSTS_MAX * plans.RAILS_MAX)
        self.assertTrue(all(address.startswith("10.") for address in addresses))


if __name__ == "__main__":
    unittest.main()
